import type { OpenPreviewRequest, OpenedPreview, WorkspacePortList } from "@convoke/protocol";
import type { RouteHandler } from "../../http/mount.ts";
import { formatInstant } from "../../lib/instant.ts";
import { previewSeconds, type WorkspaceSessions } from "../../workspaces/workspace-session.ts";
import { conversationIdOf } from "../../http/conversation-id.ts";
import { portMissing, type WorkspacePorts } from "./workspace-ports.ts";
import type { Clock } from "../../lib/clock.ts";

export type PreviewRouteDeps = {
  readonly ports: Pick<WorkspacePorts, "list">;
  readonly sessions: Pick<WorkspaceSessions, "createPreview">;
  readonly clock: Clock;
};

/** The handlers of `previewRoutes`. */
export function previewHandlers({ ports, sessions, clock }: PreviewRouteDeps) {
  return {
    listPorts: async (request) => {
      const items = await ports.list(request.caller, conversationIdOf(request));
      const json = { items: items.map(({ port, program }) => ({ port, program })) };
      return { json: json satisfies WorkspacePortList };
    },
    openPreview: async (request) => {
      const { caller } = request;
      const conversationId = conversationIdOf(request);
      const { port } = request.body as OpenPreviewRequest;
      const listening = await ports.list(caller, conversationId);
      if (!listening.some((one) => one.port === port)) throw portMissing(port);
      const capability = sessions.createPreview({ holder: caller, conversationId, port });
      const json: OpenedPreview = {
        path: `previews/${capability}/`,
        expires_at: formatInstant((clock.nowMs() + previewSeconds * 1_000) * 1_000),
      };
      return { status: 201, json };
    },
  } satisfies Record<string, RouteHandler>;
}
