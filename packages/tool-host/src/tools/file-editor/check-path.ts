import { readFile, stat } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import type { FileEditorAction } from "@convoke/protocol";
import { ToolInputError } from "../../tool.ts";
import { codeOf } from "./atomic-write.ts";
import { isBinary } from "./text-file.ts";
import { imageTypeOf } from "./view-file.ts";

/** Checks that the command is applicable to what exists at its path; returns what exists. */
export async function checkPath(
  action: FileEditorAction,
  workspaceDir: string,
): Promise<"directory" | "file" | "nothing"> {
  const { command, path } = action;
  if (path.includes("\0")) throw new ToolInputError("Invalid parameter path: it contains a NUL character.");
  if (!isAbsolute(path)) {
    const suggested = join(workspaceDir, path);
    const exists = (await kindAt(suggested)) !== "nothing";
    const hint = exists ? ` Did you mean ${suggested}?` : ` Paths begin with /, for example ${suggested}.`;
    throw new ToolInputError(`Invalid parameter path: ${path} is not absolute.${hint}`);
  }
  const kind = await kindAt(path);
  if (command === "create") {
    if (kind === "nothing") return kind;
    const hint = kind === "directory" ? "It is a directory." : "Use str_replace or insert to change it.";
    throw new ToolInputError(
      `Invalid parameter path: ${path} exists already, and create never overwrites. ${hint}`,
    );
  }
  if (kind === "nothing") {
    throw new ToolInputError(
      `Invalid parameter path: ${path} does not exist. View its directory to see what is there.`,
    );
  }
  if (kind === "directory" && command !== "view") {
    throw new ToolInputError(
      `Invalid parameter path: ${path} is a directory; only view works on directories.`,
    );
  }
  return kind;
}

/** Reads a file that is neither too big nor binary; images count as readable. */
export async function readEditable(path: string): Promise<Buffer> {
  const { size } = await stat(path);
  if (size > maxFileBytes) {
    const mebibytes = (size / 1024 / 1024).toFixed(1);
    throw new ToolInputError(
      `${path} is too large: ${mebibytes} MiB, and the limit is 10 MiB. Use the terminal to look at parts of it.`,
    );
  }
  const bytes = await readFile(path);
  if (imageTypeOf(path) === undefined && isBinary(bytes)) {
    throw new ToolInputError(
      `${path} is a binary file, which this tool neither shows nor edits. Use the terminal instead.`,
    );
  }
  return bytes;
}

const maxFileBytes = 10 * 1024 * 1024;

/** The type of a path's target; a target that is neither file nor directory is refused. */
export async function kindAt(path: string, field = "path"): Promise<"directory" | "file" | "nothing"> {
  try {
    const stats = await stat(path);
    if (stats.isDirectory()) return "directory";
    if (stats.isFile()) return "file";
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(codeOf(error))) return "nothing";
    throw error;
  }
  throw new ToolInputError(`Invalid parameter ${field}: ${path} is neither a file nor a directory.`);
}
