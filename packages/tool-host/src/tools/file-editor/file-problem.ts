import { dirname } from "node:path";
import { ToolInputError } from "../../tool.ts";
import { codeOf } from "./atomic-write.ts";

/** The message to the model about a failed file operation; undefined for a bug of ours. */
export function fileProblem(error: unknown, path: string): string | undefined {
  if (error instanceof ToolInputError) return error.message;
  const code = codeOf(error);
  return (
    systemProblems[code]?.(path) ??
    (/^E[A-Z0-9]+$/.test(code) ? `The file system refused ${path} (${code}).` : undefined)
  );
}

const systemProblems: Readonly<Record<string, (path: string) => string>> = {
  ENOENT: (path) =>
    `${path} cannot be written or read: it, or the directory ${dirname(path)}, does not exist. Make the directory first.`,
  EEXIST: (path) => `Invalid parameter path: ${path} exists already.`,
  EACCES: (path) => `Permission denied: the user that runs the tools may not do this with ${path}.`,
  EPERM: (path) => `Permission denied: the user that runs the tools may not do this with ${path}.`,
  EROFS: (path) => `${path} is on a read-only file system.`,
  ENOSPC: (path) => `The disk that holds ${path} is full; nothing was changed.`,
  ENAMETOOLONG: (path) => `Invalid parameter path: ${path.slice(0, 200)}... is too long for a path.`,
};
