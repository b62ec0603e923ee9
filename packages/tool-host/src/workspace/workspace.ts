import type { Readable } from "node:stream";
import type { GitChange, GitCommitsPage, GitDiff } from "@convoke/protocol";

export type FileStat = {
  readonly type: "file" | "directory" | "other";
  readonly sizeBytes: number;
  readonly modifiedAtMs: number;
};

export type DirectoryEntry = {
  readonly name: string;
  /** Type of an entry, with symbolic links followed; `other` for a broken link or one out of the root. */
  readonly type: "file" | "directory" | "other";
};

/** Byte offsets; `end` is the last byte (inclusive), by default the file's last one. */
export type ByteRange = { readonly start: number; readonly end?: number };

export type OpenFile = {
  /** Size of the whole file, even for a range. */
  readonly stat: FileStat;
  /** Destroy it unless you read it to its end. */
  readonly content: Readable;
};

/** At most one of the two. */
export type DiffBase = { readonly ref?: string; readonly commit?: string };

/**
 * Files and git of a tool host's machine, for people who watch the agent's work. Paths are absolute. Every method rejects with
 * {@link WorkspaceError} for failures that the caller can handle.
 */
export interface Workspace {
  /** The same machine, restricted to `root`: links inside cannot lead out of it. */
  within(root: string): Workspace;
  readFile(path: string, range?: ByteRange): Promise<OpenFile>;
  /** Creates missing parents. Readers see the old or the new content, never a mix; a failing source changes nothing. */
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
   * commit: the changes of that commit to the file.
   */
  gitDiff(path: string, against?: DiffBase): Promise<GitDiff>;
  /**
   * The changes of {@link gitChanges} in the repository itself, as a patch for `git apply` in `path`; does not modify the repository.
   * Rejects with `no-repository` and `bad-ref`.
   */
  gitPatch(path: string, ref?: string, leftOut?: LeftOut): Promise<GitPatch>;
  /** The newest commits of the branch first; none outside of any repository. */
  gitCommits(path: string, limit: number): Promise<GitCommitsPage>;
  /** The changes of a commit to the files below `path`, compared with its first parent. Rejects with `no-repository` and `bad-ref`. */
  gitCommitChanges(path: string, sha: string): Promise<readonly GitChange[]>;
  /**
   * Restores one file to its state in `ref`, by default in the commit that the branch started from: writes it, or removes it when
   * it does not exist there. The index stays as it is. Rejects with `no-repository` and `bad-ref`, with `not-permitted` for content
   * that git would pass through a filter, and with `not-a-file` for links, submodules and existing directories.
   */
  gitRestore(path: string, ref?: string): Promise<void>;
  /**
   * A directory as a gzipped tar file or a ZIP file, in a folder of its name; symbolic links stay links. Excludes git's files for
   * addresses and credentials, and what `exclude` matches, with patterns as in .gitignore. A tar file ends with a manifest; a ZIP file
   * has a note of what else is missing. Outside of a repository it archives the only one that is one or two levels below.
   */
  archive(path: string, exclude?: readonly string[], format?: ArchiveFormat): Promise<Archive>;
  /** Initial directory for browsing: the home directory, or the root. */
  home(): Promise<string>;
}

/** Patterns of files to leave out of a patch, as in .gitignore: for all files, and for untracked ones. */
export type LeftOut = { readonly all?: readonly string[]; readonly untracked?: readonly string[] };

export type GitPatch = GitPatchEnds & { readonly content: Readable };

export type GitPatchEnds = {
  /** The commit or tree that the patch is based on. */
  readonly base: string;
  /** The checked-out commit; null before the first one. */
  readonly head: string | null;
  /** Null from a tool host of an earlier version. */
  readonly repository: RepositoryHead | null;
};

export type ArchiveFormat = "tar.gz" | "zip";

export type Archive = {
  readonly content: Readable;
  /** The format: tool hosts of earlier versions create a tar file of every directory. */
  readonly format: ArchiveFormat;
  /** Null outside of a repository, and from a tool host of an earlier version. */
  readonly repository: RepositoryHead | null;
};

/** What is checked out. */
export type RepositoryHead = {
  /** Absolute path of the working tree. */
  readonly root: string;
  /** Null for a detached HEAD. */
  readonly branch: string | null;
  /** Null before the first commit. */
  readonly commit: string | null;
  /** URL of `origin`, with a mask in place of credentials; null without one. */
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

/** The request is invalid or cannot be executed; the message names the reason. */
export class WorkspaceError extends Error {
  override readonly name = "WorkspaceError";
  readonly code: WorkspaceProblem;

  constructor(code: WorkspaceProblem, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
