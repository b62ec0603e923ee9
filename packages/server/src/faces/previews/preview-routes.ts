import type { OpenedPreview, WorkspacePortList, previewRoutes } from "@convoke/protocol";
import { conversationIdOf } from "../../http/asked-conversation.ts";
import type { Handlers } from "../../http/mount.ts";
import { formatInstant } from "../../lib/instant.ts";
import { previewSeconds } from "../../workspaces/workspace-session.ts";
import type { FaceDeps } from "../face-deps.ts";
import { portMissing, type WorkspacePorts } from "./workspace-ports.ts";

/** The handlers of `previewRoutes`. */
export function previewHandlers({ sessions, clock }: FaceDeps, ports: WorkspacePorts) {
  return {
    listPorts: async (request) => {
      const items = await ports.list(request.caller, conversationIdOf(request));
      const json = { items: items.map(({ port, program }) => ({ port, program })) };
      return { json: json satisfies WorkspacePortList };
    },
    openPreview: async (request) => {
      const { caller } = request;
      const conversationId = conversationIdOf(request);
      const { port } = request.body;
      const listening = await ports.list(caller, conversationId);
      if (!listening.some((one) => one.port === port)) throw portMissing(port);
      const capability = sessions.createPreview({ holder: caller, conversationId, port });
      const json: OpenedPreview = {
        path: `previews/${capability}/`,
        expires_at: formatInstant((clock.nowMs() + previewSeconds * 1_000) * 1_000),
      };
      return { status: 201, json };
    },
  } satisfies Handlers<typeof previewRoutes>;
}
