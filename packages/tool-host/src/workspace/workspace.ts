import type { Readable } from "node:stream";
import type { GitChange, GitCommitsPage, GitDiff } from "@convoke/protocol";

export type FileStat = {
  readonly type: "file" | "directory" | "other";
  readonly sizeBytes: number;
  readonly modifiedAtMs: number;
};

export type DirectoryEntry = {
  readonly name: string;
  /** What a symbolic link leads to counts; `other` when it leads nowhere or out of the root. */
  readonly type: "file" | "directory" | "other";
};

/** Byte offsets; `end` is the last byte wanted, the file's last one unless given. */
export type ByteRange = { readonly start: number; readonly end?: number };

export type OpenFile = {
  /** Of the whole file, whatever range is read. */
  readonly stat: FileStat;
  /** Destroy it when you do not read it to its end. */
  readonly content: Readable;
};

/** At most one of the two. */
export type DiffBase = { readonly ref?: string; readonly commit?: string };

/**
 * Files and git of the machine that a tool host runs on, for people who look over the agent's shoulder. Paths are absolute.
 * Every method rejects with {@link WorkspaceError} for what the caller can understand.
 */
export interface Workspace {
  /** The same machine of which only `root` is there: links in it lead nowhere else. */
  within(root: string): Workspace;
  readFile(path: string, range?: ByteRange): Promise<OpenFile>;
  /** Creates missing parents. Readers see the old content or the new one, never a part; a source that fails changes nothing. */
  writeFile(path: string, content: AsyncIterable<Uint8Array>): Promise<void>;
  /** Follows symbolic links. */
  stat(path: string): Promise<FileStat>;
  /** Sorted by name. */
  list(path: string): Promise<readonly DirectoryEntry[]>;
  /** Creates missing parents too; an existing directory is fine. */
  createDirectory(path: string): Promise<void>;
  /**
   * Files below `path` that differ from `ref`, sorted by path, relative to it; of repositories directly below it too. Without
   * `ref`: from what the branch started from. A path that is no directory or in no repository has no changes.
   */
  gitChanges(path: string, ref?: string): Promise<readonly GitChange[]>;
  /**
   * Both texts of one file without their last newline, "" where there is no file; both null outside of any repository. With a
   * commit: what that commit did to the file.
   */
  gitDiff(path: string, against?: DiffBase): Promise<GitDiff>;
  /**
   * What {@link gitChanges} lists of the repository itself, as a patch that `git apply` takes in `path`; the repository stays as
   * it is. Rejects with `no-repository` and `bad-ref`.
   */
  gitPatch(path: string, ref?: string, leftOut?: LeftOut): Promise<GitPatch>;
  /** The newest commits of the branch first; none outside of any repository. */
  gitCommits(path: string, limit: number): Promise<GitCommitsPage>;
  /** What a commit did to the files below `path`, against its first parent. Rejects with `no-repository` and `bad-ref`. */
  gitCommitChanges(path: string, sha: string): Promise<readonly GitChange[]>;
  /**
   * Makes one file what it is in `ref`, without it in what the branch started from: written, or removed where that has no such
   * file. The index stays as it is. Rejects with `no-repository` and `bad-ref`, with `not-permitted` for what git would have to
   * pass through a filter, and with `not-a-file` for links, submodules and where a directory stands.
   */
  gitRestore(path: string, ref?: string): Promise<void>;
  /**
   * A directory as a gzipped tar file or a ZIP file, in a folder of its name; symbolic links stay links. What git keeps of addresses
   * and credentials is left out, and what `exclude` names, in patterns as git ignores files by. A tar file ends with a manifest; a ZIP file
   * says in a note what else is not in it. Outside of a repository the only one that is one or two levels below is meant.
   */
  archive(path: string, exclude?: readonly string[], format?: ArchiveFormat): Promise<Archive>;
  /** Where browsing starts: the home directory, or the root. */
  home(): Promise<string>;
}

/** Patterns of what a patch leaves out, as git ignores them: of all files, and of those that git does not track. */
export type LeftOut = { readonly all?: readonly string[]; readonly untracked?: readonly string[] };

export type GitPatch = GitPatchEnds & { readonly content: Readable };

export type GitPatchEnds = {
  /** The commit or tree that the patch begins with. */
  readonly base: string;
  /** The commit that is checked out; null before the first one. */
  readonly head: string | null;
  /** Null from a tool host that does not tell it yet. */
  readonly repository: RepositoryHead | null;
};

export type ArchiveFormat = "tar.gz" | "zip";

export type Archive = {
  readonly content: Readable;
  /** What it is: a tool host of an earlier version makes a tar file of every directory. */
  readonly format: ArchiveFormat;
  /** Null outside of a repository, and from a tool host that does not tell it yet. */
  readonly repository: RepositoryHead | null;
};

/** What is checked out. */
export type RepositoryHead = {
  /** Absolute path of the working tree. */
  readonly root: string;
  /** Null where no branch is checked out. */
  readonly branch: string | null;
  /** Null before the first commit. */
  readonly commit: string | null;
  /** Address of `origin`, with a mask where credentials are; null without one. */
  readonly remote: string | null;
};

const workspaceProblems = [
  "not-found",
  "invalid-path",
  "outside-root",
  "not-a-file",
  "not-a-directory",
  "not-permitted",
  "bad-ref",
  "not-text",
  "too-large",
  "no-repository",
  "bad-repository",
  "no-space",
  "unknown-page",
  "too-many-commands",
] as const;
export type WorkspaceProblem = (typeof workspaceProblems)[number];

export function isWorkspaceProblem(text: string): text is WorkspaceProblem {
  return (workspaceProblems as readonly string[]).includes(text);
}

/** What was asked for cannot be used or done; the message says why and names it. */
export class WorkspaceError extends Error {
  override readonly name = "WorkspaceError";
  readonly code: WorkspaceProblem;

  constructor(code: WorkspaceProblem, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
