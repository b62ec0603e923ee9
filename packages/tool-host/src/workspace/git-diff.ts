import { isUtf8 } from "node:buffer";
import { constants } from "node:fs";
import { lstat, open, readlink } from "node:fs/promises";
import { dirname, relative, resolve } from "node:path";
import type { GitDiff } from "@convoke/protocol";
import { decode, decodeText, isBinary } from "../tools/file-editor/text-file.ts";
import { askGit, findBase, isInRepository, parentOf } from "./git-base.ts";
import { findCommit } from "./git-commits.ts";
import type { PinnedEntry, RootJail } from "./root-jail.ts";
import { toWorkspaceError } from "./root-jail.ts";
import { badRepository, runGit } from "./run-git.ts";
import type { GitDeps } from "./run-git.ts";
import { WorkspaceError } from "./workspace.ts";
import type { DiffBase } from "./workspace.ts";

export type GitDiffDeps = GitDeps & { readonly jail: RootJail };

const maxBytes = 1024 * 1024;

/** See {@link Workspace.gitDiff}. Texts above 1 MiB and files that are not text are rejected. */
export async function gitDiff(deps: GitDiffDeps, path: string, against: DiffBase = {}): Promise<GitDiff> {
  const { realPath, rest } = await findDirectory(deps, path);
  if (!(await isInRepository(deps, realPath))) return { modified: null, original: null };
  const committed = async (tree: string): Promise<Buffer | undefined> =>
    readCommitted(deps, realPath, tree, rest, path);
  let original: Buffer | undefined;
  let modified: Buffer | undefined;
  if (against.commit === undefined) {
    original = await committed(await findBase(deps, realPath, against.ref));
    modified = await readPresent(deps, path);
  } else {
    const commit = await findCommit(deps, realPath, against.commit);
    original = await committed(await parentOf(deps, realPath, commit));
    modified = await committed(commit);
  }
  if (original === undefined && modified === undefined) {
    throw new WorkspaceError("not-found", `${path} is neither in the workspace nor in the repository.`);
  }
  const encoding = await encodingOf([modified, original], path);
  return {
    modified: await toText(modified, encoding, path),
    original: await toText(original, encoding, path),
  };
}

/** Where git can run: the file's directory or, if deleted, the nearest existing one; and the relative path from there. */
export async function findDirectory(
  deps: GitDiffDeps,
  path: string,
): Promise<{ readonly realPath: string; readonly rest: string }> {
  for (let asked = dirname(resolve(path)); ; asked = dirname(asked)) {
    try {
      await using entry = await deps.jail.existing(asked);
      if ((await lstat(entry.path)).isDirectory()) {
        return { realPath: entry.realPath, rest: relative(asked, resolve(path)) };
      }
    } catch (error) {
      // It may be deleted between its lookup and this check.
      const problem = toWorkspaceError(error, asked);
      if (!isMissing(problem)) throw problem;
    }
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof WorkspaceError && (error.code === "not-found" || error.code === "not-a-directory");
}

/** The committed bytes, whatever filters the repository has. */
async function readCommitted(
  deps: GitDiffDeps,
  directory: string,
  base: string,
  name: string,
  path: string,
): Promise<Buffer | undefined> {
  const entry = await askGit(deps, directory, ["ls-tree", "-z", "-l", base, "--", name]);
  const match = /^\d+ blob ([0-9a-f]+) +(\d+)\t/.exec(entry ?? "");
  if (match === null) return undefined;
  const [, id = "", size] = match;
  if (Number(size) > maxBytes) throw tooLarge(path);
  const read = await runGit(deps, directory, ["cat-file", "blob", id]);
  if (read.code !== 0) throw badRepository("git cannot read a file of this repository", read);
  return read.output;
}

/** The bytes on the disk; for a symbolic link its target, as git compares it. Undefined when the file is gone. */
async function readPresent(deps: GitDiffDeps, path: string): Promise<Buffer | undefined> {
  try {
    await using entry = await deps.jail.unfollowed(path);
    const stats = await lstat(entry.path);
    if (stats.isSymbolicLink()) return Buffer.from(await readlink(entry.path));
    if (!stats.isFile()) throw new WorkspaceError("not-a-file", `${path} is not a file.`);
    if (stats.size > maxBytes) throw tooLarge(path);
    return await readBounded(entry);
  } catch (error) {
    const problem = toWorkspaceError(error, path);
    if (isMissing(problem)) return undefined;
    throw problem;
  }
}

async function readBounded(entry: PinnedEntry): Promise<Buffer> {
  const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
  await using file = await open(entry.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  const bytes = Buffer.alloc(maxBytes + 1);
  let length = 0;
  for (let read = -1; read !== 0 && length < bytes.length; length += read) {
    read = (await file.read(bytes, length, bytes.length - length)).bytesRead;
  }
  return bytes.subarray(0, length);
}

/** One encoding for both sides that are not UTF-8, chosen as the tools read files, so that a guess causes no difference. */
async function encodingOf(sides: readonly (Buffer | undefined)[], path: string): Promise<string> {
  const others = sides.filter((bytes) => bytes !== undefined && !isUtf8(bytes));
  if (others.some((bytes) => bytes!.length > maxBytes)) throw tooLarge(path);
  return others.length === 0 ? "utf8" : (await decodeText(Buffer.concat(others as Buffer[]))).encoding;
}

async function toText(bytes: Buffer | undefined, encoding: string, path: string): Promise<string> {
  if (bytes === undefined) return "";
  if (bytes.length > maxBytes) throw tooLarge(path);
  if (isUtf8(bytes) ? bytes.includes(0) : isBinary(bytes))
    throw new WorkspaceError("not-text", `${path} is not a text.`);
  const text = isUtf8(bytes) ? bytes.toString("utf8") : withoutMark(await decode(bytes, encoding));
  return text.endsWith("\r\n") ? text.slice(0, -2) : text.endsWith("\n") ? text.slice(0, -1) : text;
}

/** UTF-16 begins with a byte order mark, which is not part of the text. */
function withoutMark(text: string): string {
  return text.startsWith("\ufeff") ? text.slice(1) : text;
}

function tooLarge(path: string): WorkspaceError {
  return new WorkspaceError("too-large", `${path} is larger than ${maxBytes} bytes.`);
}
