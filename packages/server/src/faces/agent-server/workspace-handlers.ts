import { bashHandlers, type BashRouteDeps } from "./bash-routes.ts";
import { companionHandlers } from "./companion-routes.ts";
import { fileHandlers, type FileRouteDeps } from "./file-routes.ts";
import { gitHandlers } from "./git-routes.ts";
import { savedWorkspaceHandlers, type SavedWorkspaceRouteDeps } from "./saved-workspace-routes.ts";
import { trajectoryHandlers, type TrajectoryRouteDeps } from "./trajectory-routes.ts";
import { workspaceFileHandlers, type WorkspaceFileRouteDeps } from "./workspace-file-routes.ts";

/** What the routes of a workspace need: `openAccess` says which machine they mean. */
export type WorkspaceHandlersDeps = BashRouteDeps &
  FileRouteDeps &
  SavedWorkspaceRouteDeps &
  TrajectoryRouteDeps &
  WorkspaceFileRouteDeps;

/** The handlers of `bashRoutes`, `fileRoutes`, `gitRoutes` and the tables beside them. */
export function workspaceHandlers(deps: WorkspaceHandlersDeps) {
  return {
    ...bashHandlers(deps),
    ...fileHandlers(deps),
    ...trajectoryHandlers(deps),
    ...gitHandlers(deps),
    ...savedWorkspaceHandlers(deps),
    ...workspaceFileHandlers(deps),
    ...companionHandlers,
  };
}
