import {
  appendFile,
  chmod,
  chown,
  lstat,
  mkdir,
  open,
  readdir,
  realpath,
  rm,
  truncate,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { describeError } from "../lib/describe-error.ts";
import { SandboxError, isSandboxId } from "./sandbox.ts";
import { ifThere } from "../lib/if-there.ts";
import { readIfThere } from "../lib/read-if-there.ts";

/** The user that a sandbox's processes run as. */
export type Account = { readonly uid: number; readonly gid: number };

/** Everything of one sandbox on this machine's disk except a workspace that its user chose elsewhere. */
export type SandboxDirectory = {
  readonly root: string;
  /** Shared with the sandbox while it runs: its socket and, until it has read it, its key. */
  readonly runDir: string;
  readonly stateDir: string;
  readonly homeDir: string;
  /** The server's socket for its way out; shows inside, read-only. There once the sandbox was started with a network. */
  readonly egressDir: string;
  readonly keyFile: string;
  readonly socketFile: string;
  readonly logFile: string;
};

export function sandboxDirectory(sandboxesDir: string, id: string): SandboxDirectory {
  if (!isSandboxId(id)) throw new SandboxError(`"${id}" is no id of a sandbox.`);
  const root = join(sandboxesDir, id);
  const runDir = join(root, "run");
  return {
    root,
    runDir,
    stateDir: join(root, "state"),
    homeDir: join(root, "home"),
    egressDir: join(root, "egress"),
    keyFile: join(runDir, "key"),
    socketFile: join(runDir, "host.sock"),
    logFile: join(root, "log"),
  };
}

/** The longest path that every system takes for a unix socket (macOS). */
const maxSocketPathBytes = 103;

/** Makes what is missing, gives the sandbox's part to `account` when we may, and forgets the last run's socket and key. */
export async function prepareSandboxDirectory(
  directory: SandboxDirectory,
  account: Account | undefined,
): Promise<void> {
  if (Buffer.byteLength(directory.socketFile) > maxSocketPathBytes) {
    throw new SandboxError(
      `The path ${directory.socketFile} is too long for a socket. Choose a shorter data folder.`,
    );
  }
  await mkdir(directory.root, { recursive: true, mode: 0o711 });
  await rm(directory.runDir, { recursive: true, force: true });
  for (const path of [directory.runDir, directory.stateDir, directory.homeDir]) {
    await mkdir(path, { recursive: true, mode: 0o700 });
    await giveTo(path, account);
  }
}

/** The key waits in a private file; {@link forgetKey} removes it when the tool host has read it. */
export async function writeKey(directory: SandboxDirectory, key: string, account: Account | undefined) {
  await writeFile(directory.keyFile, `${key}\n`, { mode: 0o600, flag: "wx" });
  await giveTo(directory.keyFile, account);
}

export async function forgetKey(directory: SandboxDirectory): Promise<void> {
  await rm(directory.keyFile, { force: true });
}

/**
 * Makes the workspace when it is missing. One below the sandbox's own directory belongs to `account` afterwards; one
 * elsewhere is left as it is, and refused when `account` could not write to it.
 */
export async function prepareWorkspace(
  directory: SandboxDirectory,
  workspaceDir: string,
  account: Account | undefined,
): Promise<string> {
  try {
    await mkdir(workspaceDir, { recursive: true });
    const path = await realpath(workspaceDir);
    if (account === undefined) return path;
    const isOwn = path.startsWith(`${await realpath(directory.root)}/`);
    const owner = await lstat(path);
    if (isOwn && owner.uid !== account.uid) await giveTreeTo(path, account);
    else if (!isOwn && !mayWrite(owner, account)) {
      throw new SandboxError(
        `The workspace ${path} belongs to user ${owner.uid} and sandboxes run as user ${account.uid}, who cannot write there. Change its owner (chown ${account.uid}:${account.gid}) or let the server choose the workspace.`,
      );
    }
    return path;
  } catch (error) {
    if (error instanceof SandboxError) throw error;
    throw new SandboxError(`The workspace ${workspaceDir} cannot be used: ${describeError(error)}`, {
      cause: error,
    });
  }
}

/** Ids that have a directory. */
export async function listSandboxDirectories(sandboxesDir: string): Promise<string[]> {
  const entries = await ifThere(readdir(sandboxesDir, { withFileTypes: true }), []);
  return entries.filter((entry) => entry.isDirectory() && isSandboxId(entry.name)).map(({ name }) => name);
}

/** Removes the directory with everything below it, also what its owner made unreadable. Links are not followed. */
export async function removeSandboxDirectory(directory: SandboxDirectory): Promise<void> {
  try {
    await rm(directory.root, { recursive: true, force: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "EACCES" && code !== "EPERM" && code !== "ENOTEMPTY") throw error;
    await unlockTree(directory.root);
    await rm(directory.root, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** The end of a text file, "" when there is none. */
export async function readTail(file: string, maxBytes: number): Promise<string> {
  await using handle = await ifThere(open(file, "r"), null);
  if (handle === null) return "";
  const { size } = await handle.stat();
  const start = Math.max(0, size - maxBytes);
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(size - start), 0, size - start, start);
  return buffer.toString("utf8", 0, bytesRead);
}

const longestLogBytes = 1024 * 1024;

/**
 * Empties a log that has become too long. What runs inside may have the tool host's output and write to it as much as it likes, and
 * what it likes: the log is for people, and nothing is concluded from it while the sandbox runs.
 */
export async function boundLog(file: string): Promise<void> {
  const { size } = await ifThere(lstat(file), { size: 0 });
  if (size <= longestLogBytes) return;
  const last = await readTail(file, 2_000);
  // Writers append, so nothing is left of what was there.
  await truncate(file, 0);
  await appendFile(file, `(The log was longer than 1 MiB and was emptied. Its end:)\n${last}\n`);
}

export async function readJsonIfThere(file: string): Promise<Record<string, unknown> | null> {
  try {
    const value: unknown = JSON.parse((await readIfThere(file)) ?? "null");
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : null;
  } catch (error) {
    // A server that was killed while writing leaves half a file: as good as none.
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

function mayWrite(owner: { uid: number; gid: number; mode: number }, account: Account): boolean {
  const { uid, gid, mode } = owner;
  const needed = uid === account.uid ? 0o300 : gid === account.gid ? 0o030 : 0o003;
  return (mode & needed) === needed;
}

async function giveTo(path: string, account: Account | undefined): Promise<void> {
  if (account !== undefined) await chown(path, account.uid, account.gid);
}

async function giveTreeTo(path: string, account: Account): Promise<void> {
  for (const entry of await readdir(path, { withFileTypes: true })) {
    const child = join(path, entry.name);
    if (entry.isDirectory()) await giveTreeTo(child, account);
    // A link's target is not ours to give, and a second hard link may be somebody's file.
    else if (entry.isFile() && (await lstat(child)).nlink === 1) await giveTo(child, account);
  }
  await giveTo(path, account);
}

/** The removal that failed may still be at work beside it: what it has taken away meanwhile is as it should be. */
async function unlockTree(path: string): Promise<void> {
  await ifThere(chmod(path, 0o700), null);
  for (const entry of await ifThere(readdir(path, { withFileTypes: true }), []))
    if (entry.isDirectory()) await unlockTree(join(path, entry.name));
}
