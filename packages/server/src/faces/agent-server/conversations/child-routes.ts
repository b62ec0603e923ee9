import { randomUUID } from "node:crypto";
import type { StartChildConversationRequest, StartChildConversationResponse } from "@convoke/protocol";
import type { Directory } from "../../../directory/directory.ts";
import { conversationMissing } from "../../../engine/refusals.ts";
import type { RouteHandler } from "../../../http/mount.ts";
import { conversationIdOf } from "../../../http/conversation-id.ts";

export type ChildRouteDeps = { readonly directory: Directory };

/** Conversations that begin from others. Source: agent server 1.58. */
export function childHandlers({ directory }: ChildRouteDeps) {
  return {
    startChildConversation: async (request) => {
      const { caller } = request;
      const parentId = conversationIdOf(request);
      const parent = await directory.describe(caller, parentId);
      if (parent === null) throw conversationMissing(parentId);
      const { task, title = null } = request.body as StartChildConversationRequest;
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
  } satisfies Record<string, RouteHandler>;
}
