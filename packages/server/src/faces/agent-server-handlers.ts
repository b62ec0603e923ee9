import { byOperation, type RouteHandler } from "../http/mount.ts";
import { askHandlers } from "./agent-server/conversations/ask-routes.ts";
import { contextHandlers } from "./agent-server/conversations/context-routes.ts";
import { conversationHandlers } from "./agent-server/conversations/conversation-routes.ts";
import { eventHandlers } from "./agent-server/events/event-routes.ts";
import { skillHandlers } from "./agent-server/extensions/skill-routes.ts";
import { workspaceHandlers } from "./agent-server/machines/workspace-handlers.ts";
import { serverHandlers } from "./agent-server/server/server-routes.ts";
import { deletionHandlers } from "./app-server/app-conversation-routes.ts";
import type { FaceDeps } from "./face-deps.ts";

/** The handlers of `agentServerRoutes`, which sandboxes show in part. */
export function agentServerHandlers(deps: FaceDeps) {
  return {
    ...serverHandlers(deps),
    ...conversationHandlers({
      ...deps,
      plugins: { settings: deps.settings, sources: deps.sources },
    }),
    ...deletionHandlers(deps),
    ...eventHandlers(deps),
    ...contextHandlers(deps),
    ...askHandlers(deps),
    ...workspaceHandlers(deps),
    ...onFolders(skillHandlers(deps), deps),
  };
}

/** Handlers that read a folder of the server's machine that the caller names. */
export function onFolders<Handlers extends object>(
  handlers: Handlers,
  { requireMachine }: Pick<FaceDeps, "requireMachine">,
): Handlers {
  const guarded = Object.entries(byOperation(handlers)).map(([operation, handle]): [string, RouteHandler] => [
    operation,
    (request) => {
      const { project_dir: folder } = (request.body ?? {}) as Record<string, unknown>;
      if (folder) requireMachine(request.caller.userId);
      return handle(request);
    },
  ]);
  return Object.fromEntries(guarded) as Handlers;
}
