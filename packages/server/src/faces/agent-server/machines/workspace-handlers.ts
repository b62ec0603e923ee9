import type { FaceDeps } from "../../face-deps.ts";
import { bashHandlers } from "../shells/bash-routes.ts";
import { editorDesktopHandlers } from "./editor-desktop-routes.ts";
import { fileHandlers } from "../files/file-routes.ts";
import { gitHandlers } from "../files/git-routes.ts";
import { savedWorkspaceHandlers } from "../files/saved-workspace-routes.ts";
import { trajectoryHandlers } from "../files/trajectory-routes.ts";
import { workspaceFileHandlers } from "../files/workspace-file-routes.ts";

/** The handlers of `machineRoutes`. */
export function machineHandlers(deps: Pick<FaceDeps, "openAccess" | "uploadLimitBytes">) {
  return { ...bashHandlers(deps), ...fileHandlers(deps), ...gitHandlers(deps) };
}

/** The handlers of `workspaceRoutes`. */
export function workspaceHandlers(deps: FaceDeps) {
  return {
    ...machineHandlers(deps),
    ...trajectoryHandlers(deps),
    ...savedWorkspaceHandlers(deps),
    ...workspaceFileHandlers(deps),
    ...editorDesktopHandlers,
  };
}
