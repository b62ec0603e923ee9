import { constants } from "node:fs";
import {
  lstat,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readlink,
  realpath,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { isInside } from "./is-inside.ts";
import { toWorkspaceError } from "./root-jail.ts";
import { WorkspaceError } from "./workspace.ts";

/** Runs git directly in a directory, with additional environment. */
export type AskGit = (
  directory: string,
  parameters: readonly string[],
  environment?: Readonly<Record<string, string>>,
) => Promise<{
  /** Undefined when git fails. */
  readonly answer: string | undefined;
  readonly problem: string;
}>;

export type PrivateRepositoriesDeps = {
  /** Repositories that are not completely inside the root are ignored. */
  readonly root: string | undefined;
  readonly askGit: AskGit;
};

/** What git uses instead of a repository's own folder. */
export type PrivateRepository = {
  readonly environment: Readonly<Record<string, string>>;
  /** Absolute path of the working tree. */
  readonly root: string;
  /** URL of `origin` without parts that may contain a password. */
  readonly remote: string | null;
};

/**
 * Gives git a safe view of repositories whose configuration others write: a folder of ours that links to their objects, refs and
 * index, with our own configuration, which names no program. A file that changes meanwhile changes data, never what is executed.
 * Views are created on first use and removed on disposal.
 */
export class PrivateRepositories implements AsyncDisposable {
  readonly #deps: PrivateRepositoriesDeps;
  readonly #folders: string[] = [];
  readonly #known = new Map<string, Promise<PrivateRepository | undefined>>();

  constructor(deps: PrivateRepositoriesDeps) {
    this.#deps = deps;
  }

  /** The repository whose working tree contains a directory; undefined when there is none. */
  async at(directory: string): Promise<PrivateRepository | undefined> {
    let known = this.#known.get(directory);
    if (known === undefined) {
      known = this.#open(directory);
      this.#known.set(directory, known);
      known.catch(() => this.#known.delete(directory));
    }
    return known;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.#known.values());
    await Promise.all(this.#folders.map(async (folder) => rm(folder, { recursive: true, force: true })));
  }

  async #open(directory: string): Promise<PrivateRepository | undefined> {
    const { answer, problem } = await this.#deps.askGit(directory, [
      "rev-parse",
      "--is-inside-work-tree",
      "--path-format=absolute",
      "--show-toplevel",
      "--git-dir",
      "--git-common-dir",
    ]);
    if (answer === undefined) await this.#refuseDamaged(directory, problem);
    const [isInTree, tree, own, common] = answer?.trimEnd().split("\n") ?? [];
    if (isInTree !== "true" || tree === undefined || own === undefined || common === undefined)
      return undefined;
    const [realTree, realOwn, realCommon] = await realPaths([tree, own, common]);
    const { root } = this.#deps;
    if (root !== undefined) {
      const realRoot = await realpath(root);
      if (![realTree, realOwn, realCommon].every((path) => isInside(realRoot, path))) return undefined;
    }
    const folder = await mkdtemp(join(tmpdir(), "convoke-git-"));
    this.#folders.push(folder);
    await linkParts({ folder, own: realOwn, common: realCommon });
    const settings = await this.#readConfig(folder, realOwn, realCommon);
    await writeFile(join(folder, "config"), settings.flatMap(safeSetting).join(""));
    const address = settings.findLast((entry) => entry.startsWith(originUrl))?.slice(originUrl.length);
    return {
      environment: { GIT_DIR: folder, GIT_WORK_TREE: realTree },
      root: realTree,
      remote: address === undefined ? null : withoutSecrets(address),
    };
  }

  /** A repository that git cannot read must not look like none: its changes would be invisible. */
  async #refuseDamaged(directory: string, problem: string): Promise<void> {
    if (/must be run in a work tree/u.test(problem)) return;
    const root = await realpath(this.#deps.root ?? "/");
    const own = await findOwn(directory, root);
    // A link may lead out of the root, about which nothing is reported.
    const isReported = own !== undefined && (own.isDirectory || this.#deps.root === undefined);
    if (!isReported) return;
    if (problem.startsWith("not a git repository") && !(await isThere(join(own.path, "objects")))) return;
    throw new WorkspaceError("bad-repository", `git cannot read ${own.path}: ${problem}.`);
  }

  /** Git itself parses the foreign configuration, from a copy and without includes. Each entry is a name, a line end and a value. */
  async #readConfig(folder: string, own: string, common: string): Promise<string[]> {
    const scratch = join(folder, "convoke");
    await mkdir(scratch);
    const entries: string[] = [];
    for (const path of [join(common, "config"), join(own, "config.worktree")]) {
      const bytes = await readSmallFile(path, maxConfigBytes);
      if (bytes === undefined) continue;
      const copy = join(scratch, "config");
      await writeFile(copy, bytes);
      const listing = await this.#deps.askGit(scratch, ["config", "--file", copy, "--null", "--list"]);
      if (listing.answer === undefined)
        throw new WorkspaceError("bad-repository", `git cannot read ${path}: ${listing.problem}.`);
      entries.push(...listing.answer.split("\0"));
    }
    await rm(scratch, { recursive: true });
    return entries;
  }
}

/** The nearest `.git` of a directory or its parents, up to `root`. */
async function findOwn(
  directory: string,
  root: string,
): Promise<{ readonly path: string; readonly isDirectory: boolean } | undefined> {
  for (let at = directory; isInside(root, at); at = dirname(at)) {
    const path = join(at, ".git");
    const stats = await lstat(path).catch(() => undefined); // Missing or unreadable.
    if (stats !== undefined) return { path, isDirectory: stats.isDirectory() };
    if (at === dirname(at)) return undefined;
  }
  return undefined;
}

const mask = "****";
const originUrl = "remote.origin.url\n";

/** A URL for display, with a mask in place of credentials; null for one in which they cannot be located. */
function withoutSecrets(address: string): string | null {
  const at = address.lastIndexOf("@");
  if (!address.includes("://"))
    return address.slice(0, Math.max(at, 0)).includes(":") ? `${mask}${address.slice(at)}` : address;
  if (!URL.canParse(address)) return null;
  const url = new URL(address);
  // The user of SSH is not a credential; one of HTTP may be a token.
  const isSecret = url.password !== "" || (url.username !== "" && url.protocol !== "ssh:");
  if (isSecret) url.username = mask;
  url.password = "";
  url.search = "";
  url.hash = "";
  return url.href;
}

async function realPaths(paths: readonly [string, string, string]): Promise<[string, string, string]> {
  const real = async (path: string): Promise<string> =>
    realpath(path).catch((error: unknown) => {
      throw toWorkspaceError(error, path);
    });
  return [await real(paths[0]), await real(paths[1]), await real(paths[2])];
}

const maxConfigBytes = 1024 * 1024;
const maxHeadBytes = 4_096;
const maxSharedIndexes = 100;

/** Files of a repository and all its working trees. */
const commonParts = ["objects", "refs", "packed-refs", "info", "shallow", "reftable"];
/** Files of one working tree. */
const ownParts = ["logs", "ORIG_HEAD", "FETCH_HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD"];

async function linkParts(places: {
  readonly folder: string;
  readonly own: string;
  readonly common: string;
}): Promise<void> {
  const { folder, own, common } = places;
  const shared = (await readdir(own).catch(() => [])).filter((name) => name.startsWith("sharedindex."));
  const parts: [name: string, from: string][] = [
    ...commonParts.map((name): [string, string] => [name, common]),
    ...[...ownParts, ...shared.slice(0, maxSharedIndexes)].map((name): [string, string] => [name, own]),
  ];
  for (const [name, from] of parts) {
    const target = join(from, name);
    if (await isThere(target)) await symlink(target, join(folder, name));
  }
  await linkIndex(folder, join(own, "index"));
  await copyHead(join(own, "HEAD"), join(folder, "HEAD"));
}

async function isThere(path: string): Promise<boolean> {
  return await lstat(path).then(
    () => true,
    () => false,
  );
}

/** Maximum number of links that git follows to the place of a lock file. */
const linksToLock = 5;

/**
 * Git updates the index with what a comparison found out about files, whatever its lock options say, and then a concurrent commit
 * fails. Through links it only follows a limited number, so the lock, and the update, stay in our folder.
 */
async function linkIndex(folder: string, index: string): Promise<void> {
  const names = Array.from({ length: linksToLock }, (_, at) => join(folder, `index-${at}`));
  if (!(await isThere(index))) return;
  const places = [join(folder, "index"), ...names];
  for (const [at, place] of places.entries()) await symlink(names[at] ?? index, place);
}

/** Git rejects a link as HEAD, unless it is the old form of a reference. */
async function copyHead(from: string, to: string): Promise<void> {
  const target = await readlink(from).catch(() => undefined);
  if (target?.startsWith("refs/") === true) await symlink(target, to);
  else await writeFile(to, (await readSmallFile(from, maxHeadBytes)) ?? "");
}

/** Undefined when there is no file of at most `maxBytes` bytes. */
async function readSmallFile(path: string, maxBytes: number): Promise<Buffer | undefined> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = await file.stat();
    if (!stats.isFile() || stats.size > maxBytes) return undefined;
    const bytes = Buffer.alloc(stats.size);
    const { bytesRead } = await file.read(bytes, 0, stats.size, 0);
    return bytes.subarray(0, bytesRead);
  } catch {
    // Missing or unreadable: git would ignore it too.
    return undefined;
  }
}

/** Settings that only say how data is stored, compared or named. */
const safeNames =
  /^(?:core\.(?:repositoryformatversion|filemode|ignorecase|symlinks|precomposeunicode|protecthfs|protectntfs|autocrlf|eol|checkstat|trustctime|sparsecheckout|sparsecheckoutcone|excludesfile)|extensions\.(?:objectformat|compatobjectformat|refstorage)|index\.sparse|branch\.[^]+\.(?:remote|merge)|remote\.[^]+\.fetch)$/;

/** One line of `git config --list --null` as a line of a configuration; nothing for a setting that is left out. */
function safeSetting(entry: string): string[] {
  const lineEnd = entry.indexOf("\n");
  const name = lineEnd === -1 ? entry : entry.slice(0, lineEnd);
  if (!safeNames.test(name)) return [];
  const section = name.slice(0, name.indexOf("."));
  const key = name.slice(name.lastIndexOf(".") + 1);
  const subsection = name.slice(section.length + 1, -key.length - 1);
  const heading = subsection === "" ? `[${section}]` : `[${section} "${escape(subsection)}"]`;
  const value = lineEnd === -1 ? "" : ` = "${escape(entry.slice(lineEnd + 1))}"`;
  return [`${heading}\n\t${key}${value}\n`];
}

function escape(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
