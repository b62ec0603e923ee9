import { isAbsolute, resolve } from "node:path";
import { ToolInputError } from "../../tool.ts";

/** A path as the model gave it, absolute or below the workspace, as an absolute one. */
export function workspacePath(workspaceDir: string, field: string, path: string): string {
  if (path === "") throw new ToolInputError(`Invalid parameter ${field}: it is empty.`);
  if (path.includes("\0"))
    throw new ToolInputError(`Invalid parameter ${field}: it contains a NUL character.`);
  return isAbsolute(path) ? resolve(path) : resolve(workspaceDir, path);
}
