import { lstat, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Action, FileEntry, ListDirectoryAction, ListDirectoryObservation } from "@convoke/protocol";
import { ToolInputError, type Tool, type ToolContext } from "../../tool.ts";
import { annotate, defineTool } from "../define-tool.ts";
import { codeOf } from "../file-editor/atomic-write.ts";
import { kindAt } from "../file-editor/check-path.ts";
import { fileProblem } from "../file-editor/file-problem.ts";
import { textPart } from "../observation-content.ts";
import { existingPath } from "./workspace-path.ts";

/** Lists what is in a directory. */
export const listDirectoryTool: Tool = {
  name: "list_directory",
  actionKind: "ListDirectoryAction",
  isReadOnly: true,
  define: (context) => ({
    ...defineTool(
      "ListDirectory",
      "list_directory",
      description,
      annotate("list_directory", { readOnly: true, destructive: false, idempotent: true, openWorld: false }),
    ),
    meta: { workspace_root: context.workspaceDir },
  }),
  open: async (context) => ({
    execute: async (action: Action) => listAction(action as ListDirectoryAction, context),
    [Symbol.asyncDispose]: async () => {},
  }),
};

async function listAction(
  action: ListDirectoryAction,
  context: ToolContext,
): Promise<ListDirectoryObservation> {
  const given = action.dir_path ?? ".";
  try {
    const path = await existingPath(context.workspaceDir, "dir_path", given);
    const kind = await kindAt(path, "dir_path");
    if (kind !== "directory") {
      const reason = kind === "file" ? "is a file" : "does not exist";
      throw new ToolInputError(`Invalid parameter dir_path: ${path} ${reason}.`);
    }
    return await list(path, action.recursive ?? false);
  } catch (error) {
    const text = fileProblem(error, given);
    if (text === undefined) throw error;
    return { ...observe(null, text), is_error: true };
  }
}

async function list(path: string, isRecursive: boolean): Promise<ListDirectoryObservation> {
  const found = await namesIn(path);
  const paths: Named[] = [];
  for (const child of found) {
    paths.push(child);
    if (isRecursive && child.isDirectory && !child.isLink) paths.push(...(await namesIn(child.path, true)));
  }
  const entries = await Promise.all(paths.slice(0, maxEntries).map(describeEntry));
  const isTruncated = paths.length > entries.length;
  const left = isTruncated
    ? ` Only the first ${entries.length} are listed; list a directory further down.`
    : "";
  const count = paths.length === 1 ? "1 entry" : `${paths.length} entries`;
  const lines = entries.map((entry) => showEntry(entry, path));
  const text = paths.length === 0 ? `${path} is empty.` : `${path}, ${count}.${left}\n${lines.join("\n")}`;
  return { ...observe(path, text), entries, total_count: paths.length, is_truncated: isTruncated };
}

type Named = {
  readonly name: string;
  readonly path: string;
  readonly isDirectory: boolean;
  readonly isLink: boolean;
};

/** Directories first, then the others, each sorted by name. An unreadable subdirectory has no entries. */
async function namesIn(directory: string, isFurtherDown = false): Promise<Named[]> {
  try {
    const entries = await readdir(directory, { withFileTypes: true });
    const named = await Promise.all(
      entries.map(async (entry): Promise<Named> => {
        const path = join(directory, entry.name);
        const isLink = entry.isSymbolicLink();
        const isDirectory = isLink ? await leadsToDirectory(path) : entry.isDirectory();
        return { name: entry.name, path, isDirectory, isLink };
      }),
    );
    return named.sort((a, b) => Number(b.isDirectory) - Number(a.isDirectory) || (a.name < b.name ? -1 : 1));
  } catch (error) {
    if (isFurtherDown && ["EACCES", "EPERM", "ENOENT"].includes(codeOf(error))) return [];
    throw error;
  }
}

async function leadsToDirectory(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false, // A broken link.
  );
}

async function describeEntry({ name, path, isDirectory }: Named): Promise<FileEntry> {
  const found = await stat(path)
    .catch(() => lstat(path))
    .catch(() => null); // Deleted since it was listed.
  return {
    name,
    path,
    is_directory: isDirectory,
    size: isDirectory || found === null ? 0 : found.size,
    modified_time: (found?.mtime ?? new Date(0)).toISOString(),
  };
}

function showEntry(entry: FileEntry, directory: string): string {
  const shown = entry.path.slice(directory.endsWith("/") ? directory.length : directory.length + 1);
  return entry.is_directory ? `${shown}/` : `${shown} (${entry.size} bytes)`;
}

const maxEntries = 500;

function observe(path: string | null, text: string): ListDirectoryObservation {
  return {
    kind: "ListDirectoryObservation",
    content: [textPart(text)],
    is_error: false,
    dir_path: path,
    entries: [],
    total_count: 0,
    is_truncated: false,
  };
}

const description = `List what is in a directory, hidden entries included: directories first, then files with their sizes. The path is absolute or relative to your working directory, which is listed when no path is given.

With recursive the entries of its direct subdirectories are listed too, links are not followed. At most ${maxEntries} entries are listed.`;
