import { randomUUID } from "node:crypto";
import type { StartChildConversationResponse, childConversationRoutes } from "@convoke/protocol";
import { describeAsked } from "../../../http/asked-conversation.ts";
import type { Handlers } from "../../../http/mount.ts";
import type { FaceDeps } from "../../face-deps.ts";

/** Conversations that begin from others. Source: agent server 1.58. */
export function childHandlers({ directory }: FaceDeps) {
  return {
    startChildConversation: async (request) => {
      const { caller } = request;
      const parent = await describeAsked(directory, request);
      const parentId = parent.id;
      const { task, title = null } = request.body;
      const id = randomUUID();
      const { forked_from: _, parent: __, ...config } = parent.config;
      await directory.create(caller, {
        id,
        title,
        config: { ...config, parent: { conversation_id: parentId } },
        secrets: parent.secrets,
      });
      const child = await directory.open(caller, id);
      await child.send({
        message: { role: "user", content: [{ type: "text", text: task }] },
        wantsRun: true,
        clientMessageId: "convoke:task",
      });
      const json: StartChildConversationResponse = {
        conversation_id: id,
        parent_conversation_id: parentId,
        status: child.state.status,
        title,
        workspace: config.workspace.working_dir,
        // The child always works in the parent's directory, whatever the request says.
        isolation: "shared",
      };
      return { status: 201, json };
    },

    prepareForSandboxPause: () => ({ status: 204, text: "" }),
  } satisfies Handlers<typeof childConversationRoutes>;
}
