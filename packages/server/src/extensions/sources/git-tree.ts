import { posix } from "node:path";
import { Fault } from "../../lib/fault.ts";
import { folderBounds } from "./folder-content.ts";

/** One entry of a tree, as `git ls-tree -r -z --long` prints it. */
export type TreeEntry = {
  readonly mode: string;
  readonly object: string;
  /** Null for what is no file. */
  readonly size: number | null;
  readonly path: string;
};

/** What of a tree is copied. A link is copied as the file that it leads to. */
export type TreePlan = {
  readonly files: readonly {
    readonly path: string;
    readonly object: string;
    readonly isExecutable: boolean;
  }[];
  readonly links: readonly { readonly path: string; readonly object: string }[];
  /** Folders that are repositories of their own: they are not fetched. */
  readonly submodules: readonly string[];
};

/** A link that is longer leads to no file of a folder. */
const maxLinkBytes = 1_024;

/** Throws a `Fault` for a name that is not UTF-8. */
export function parseTree(listing: Buffer): TreeEntry[] {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let text: string;
  try {
    text = decoder.decode(listing);
  } catch {
    // The decoder's own message says nothing about the repository.
    throw unusable("it has a file whose name is not UTF-8.");
  }
  return text
    .split("\0")
    .filter((line) => line !== "")
    .map((line) => {
      const [, mode, object, size, path] = /^(\d{6}) \w+ ([0-9a-f]+) +(\d+|-)\t([^]+)$/.exec(line) ?? [];
      if (mode === undefined) throw unusable("its list of files cannot be read.");
      return { mode, object: object!, size: size === "-" ? null : Number(size), path: path! };
    });
}

/** Throws a `Fault` for a tree that is too large, or that could write outside of its folder. */
export function planTree(entries: readonly TreeEntry[]): TreePlan {
  const { files: maxFiles, bytes: maxBytes } = folderBounds;
  if (entries.length > maxFiles)
    throw unusable(`it has more than ${maxFiles} files. Name the folder that is meant with repo_path.`);
  const total = entries.reduce((sum, { size }) => sum + (size ?? 0), 0);
  if (total > maxBytes)
    throw unusable(
      `its files have ${total} bytes together, and at most ${maxBytes} are taken. Name the folder that is meant with repo_path.`,
    );
  const names = new Set<string>();
  for (const { path } of entries) {
    const problem = pathProblem(path);
    if (problem !== null) throw unusable(`it has a file ${JSON.stringify(path).slice(0, 120)}, ${problem}.`);
    const folded = path.normalize("NFC").toLowerCase();
    if (names.has(folded))
      throw unusable(`it has two files whose names differ in case alone, ${JSON.stringify(path)}.`);
    names.add(folded);
  }
  const withMode = (...modes: readonly string[]): TreeEntry[] =>
    entries.filter(({ mode }) => modes.includes(mode));
  const links = withMode("120000");
  const long = links.find(({ size }) => (size ?? 0) > maxLinkBytes);
  if (long !== undefined) throw linkLeadsOut(long.path);
  return {
    files: withMode("100644", "100664", "100755").map(({ path, object, mode }) => ({
      path,
      object,
      isExecutable: mode === "100755",
    })),
    links: links.map(({ path, object }) => ({ path, object })),
    submodules: withMode("160000").map(({ path }) => path),
  };
}

/** The path that a link at `path` leads to; throws a `Fault` where that is outside of the folder. */
export function followLink(path: string, target: string): string {
  const end = posix.normalize(posix.join(posix.dirname(path), target));
  if (posix.isAbsolute(target) || end === ".." || end.startsWith("../")) throw linkLeadsOut(path);
  return end;
}

export function linkLeadsOut(path: string): Fault {
  return unusable(`its link ${JSON.stringify(path)} does not lead to a file of the folder.`);
}

/** A repository that cannot be used as it is. */
export function unusable(why: string): Fault {
  const msg = `The repository cannot be used: ${why}`;
  return new Fault("caller", "unusable_repository", msg, [
    { loc: ["body", "source"], msg, type: "unusable_repository" },
  ]);
}

/** Marks that turn the direction of text can show a name as another one. */
const turning = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

function pathProblem(path: string): string | null {
  const parts = path.split("/");
  if (path.length > folderBounds.pathChars || parts.length > folderBounds.depth)
    return "whose name is too long";
  if (/\p{Cc}/u.test(path) || turning.test(path)) return "whose name has control characters";
  if (path.includes("\\")) return "whose name has a backslash";
  if (parts.some((part) => part === "" || part === "." || part === "..")) return "whose name leads outside";
  return parts.some((part) => /^\.git$|^git~\d+$/i.test(part.replace(/[. ]+$/, "")))
    ? "which belongs to git itself"
    : null;
}
