import { posix } from "node:path";
import type { Workspace } from "@convoke/tool-host";
import { collectBytes } from "../../lib/collect-bytes.ts";

/** The file access of extensions to a workspace, through the tool host: in a sandbox, the sandbox's files. */
export type WorkspaceFiles = Pick<Workspace, "list" | "readFile" | "stat">;

/** One text file that was found. `isCut`: it was longer than what is read. */
export type FoundFile = { readonly path: string; readonly text: string; readonly isCut: boolean };

/** Files that one reading takes at most, and bytes of each. */
export const maxFiles = 300;
const maxFileBytes = 64 * 1024;

/** Null when the file is missing or unreadable: a broken file must not break its reader. */
export async function readTextFile(files: WorkspaceFiles, path: string): Promise<FoundFile | null> {
  try {
    const opened = await files.readFile(path, { start: 0, end: maxFileBytes });
    const bytes = await collectBytes(opened.content, maxFileBytes + 1);
    if (bytes === null) return null;
    const isCut = bytes.byteLength > maxFileBytes;
    return {
      path,
      text: bytes
        .subarray(0, maxFileBytes)
        .toString("utf8")
        .replace(/^\uFEFF/, ""),
      isCut,
    };
  } catch {
    // Missing, no text file, not permitted: equivalent for optional files.
    return null;
  }
}

/** Names in a directory; none when it does not exist. */
export async function namesIn(
  files: WorkspaceFiles,
  path: string,
): Promise<readonly { readonly name: string; readonly type: "file" | "directory" | "other" }[]> {
  try {
    return await files.list(path);
  } catch {
    // As above.
    return [];
  }
}

/** Markdown files directly in a directory, and `SKILL.md` of the directories in it; sorted, bounded, `README.md` left out. */
export async function findMarkdown(files: WorkspaceFiles, directory: string): Promise<string[]> {
  const entries = (await namesIn(files, directory)).slice(0, maxFiles);
  const found = await Promise.all(
    entries.map(async ({ name, type }): Promise<string[]> => {
      const path = posix.join(directory, name);
      if (type === "file") return /\.md$/i.test(name) && !/^readme\.md$/i.test(name) ? [path] : [];
      if (type !== "directory") return [];
      const inside = await namesIn(files, path);
      const skill = inside.find((entry) => entry.type === "file" && /^skill\.md$/i.test(entry.name));
      return skill === undefined ? [] : [posix.join(path, skill.name)];
    }),
  );
  return found.flat().slice(0, maxFiles);
}

/** The nearest directory with `.git` in it, from `directory` upwards; null when there is none. */
export async function findRepository(files: WorkspaceFiles, directory: string): Promise<string | null> {
  for (let at = directory; ; at = posix.dirname(at)) {
    try {
      await files.stat(posix.join(at, ".git"));
      return at;
    } catch {
      // No repository here, or outside of what may be seen: one further up may be.
    }
    if (at === posix.dirname(at)) return null;
  }
}
