import { isAbsolute, resolve } from "node:path";
import { ToolInputError } from "../../tool.ts";
import { findTwin } from "../file-editor/find-twin.ts";

/** Resolves a path from the model, absolute or relative to the workspace; uses its twin if only that exists. */
export async function existingPath(workspaceDir: string, field: string, path: string): Promise<string> {
  if (path === "") throw new ToolInputError(`Invalid parameter ${field}: it is empty.`);
  if (path.includes("\0"))
    throw new ToolInputError(`Invalid parameter ${field}: it contains a NUL character.`);
  return findTwin(isAbsolute(path) ? resolve(path) : resolve(workspaceDir, path));
}
