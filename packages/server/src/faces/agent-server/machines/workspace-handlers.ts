import { bashHandlers, type BashRouteDeps } from "../shells/bash-routes.ts";
import { editorDesktopHandlers } from "./editor-desktop-routes.ts";
import { fileHandlers, type FileRouteDeps } from "../files/file-routes.ts";
import { gitHandlers } from "../files/git-routes.ts";
import { savedWorkspaceHandlers, type SavedWorkspaceRouteDeps } from "../files/saved-workspace-routes.ts";
import { trajectoryHandlers, type TrajectoryRouteDeps } from "../files/trajectory-routes.ts";
import { workspaceFileHandlers, type WorkspaceFileRouteDeps } from "../files/workspace-file-routes.ts";

/** `openAccess` says which machine the routes mean. */
export type MachineHandlersDeps = BashRouteDeps & FileRouteDeps;

/** The handlers of `machineRoutes`. */
export function machineHandlers(deps: MachineHandlersDeps) {
  return { ...bashHandlers(deps), ...fileHandlers(deps), ...gitHandlers(deps) };
}

export type WorkspaceHandlersDeps = MachineHandlersDeps &
  SavedWorkspaceRouteDeps &
  TrajectoryRouteDeps &
  WorkspaceFileRouteDeps;

/** The handlers of `workspaceRoutes`. */
export function workspaceHandlers(deps: WorkspaceHandlersDeps) {
  return {
    ...machineHandlers(deps),
    ...trajectoryHandlers(deps),
    ...savedWorkspaceHandlers(deps),
    ...workspaceFileHandlers(deps),
    ...editorDesktopHandlers,
  };
}
