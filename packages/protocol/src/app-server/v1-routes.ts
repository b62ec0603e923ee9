import { appConversationRoutes } from "./app-conversation-routes.ts";
import { appEventRoutes } from "./app-event-routes.ts";
import { appWorkspaceRoutes } from "./app-workspace-routes.ts";
import { sandboxRoutes, sandboxSpecRoutes } from "./sandbox-routes.ts";
import { startTaskRoutes } from "./start-task-routes.ts";

/** Conversations in sandboxes and related routes, by operation id. Fixed paths come before those with a parameter in the same place. */
export const v1Routes = {
  ...startTaskRoutes,
  ...appConversationRoutes,
  ...appEventRoutes,
  ...appWorkspaceRoutes,
  ...sandboxRoutes,
  ...sandboxSpecRoutes,
};
export type V1Operation = keyof typeof v1Routes;
