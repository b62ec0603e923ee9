import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readProcess } from "@convoke/tool-host/system";

/** A running server, as its data folder records it. */
export type RunningServer = {
  readonly pid: number;
  /** Where browsers reach it, without a slash at its end. */
  readonly url: string;
  /** Where commands on this machine reach it. */
  readonly apiUrl: string;
  /** Whether clients use the key file of the data folder; false where a key is configured, or none is needed. */
  readonly usesFolderKey: boolean;
  readonly hasPage: boolean;
  /** False where everybody is let in without a key. */
  readonly needsLogin: boolean;
};

type Entry = RunningServer & {
  /** What the kernel says about when the process began: ids of processes are used again. */
  readonly began: string;
};

/**
 * Records in the data folder that this process serves it, until it is disposed. Only who owns the folder reads it, so whoever asks there for
 * a server is not led to somebody else's.
 */
export async function announceServer(
  dataDir: string,
  server: Omit<RunningServer, "pid">,
): Promise<AsyncDisposable> {
  const folder = folderIn(dataDir);
  const file = join(folder, `${process.pid}.json`);
  const entry: Entry = { ...server, pid: process.pid, began: beginOf(process.pid) ?? "" };
  await mkdir(folder, { recursive: true, mode: 0o700 });
  // Atomically: a concurrent search for servers would take half an entry for a broken one and remove it.
  const draft = `${file}.draft`;
  await rm(draft, { force: true });
  await writeFile(draft, `${JSON.stringify(entry)}\n`, { mode: 0o600 });
  await rename(draft, file);
  return { [Symbol.asyncDispose]: () => rm(file, { force: true }) };
}

/** The servers that run on a data folder, the oldest first; what ended without a word is forgotten. */
export async function findServers(dataDir: string): Promise<RunningServer[]> {
  const folder = folderIn(dataDir);
  const found: Entry[] = [];
  for (const name of await listIfThere(folder)) {
    const file = join(folder, name);
    const entry = await readEntry(file);
    if (entry !== null && entry.began !== "" && beginOf(entry.pid) === entry.began) found.push(entry);
    else await rm(file, { force: true });
  }
  return found.toSorted((one, other) => Number(one.began) - Number(other.began));
}

function folderIn(dataDir: string): string {
  return join(dataDir, "running");
}

async function listIfThere(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter((name) => name.endsWith(".json")).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

/** Null for one that was cut off while it was written, or is gone by now. */
async function readEntry(file: string): Promise<Entry | null> {
  try {
    return JSON.parse(await readFile(file, "utf8")) as Entry;
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

/** When a process began, by the system's process table; null when there is no such process. */
function beginOf(pid: number): string | null {
  const entry = readProcess(pid);
  return entry === undefined ? null : String(entry.startTicks);
}
