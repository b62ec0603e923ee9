import { statfs } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

export type DiskWatchDeps = {
  /** Watched besides what is asked about, such as the data folder. Absolute. */
  readonly folders: readonly string[];
  /** Bytes of the disk that a folder is on. Rejects for a folder that is not there. */
  readonly readSpace?: (folder: string) => Promise<DiskSpace>;
  readonly nowMs?: () => number;
};

export type DiskSpace = { readonly totalBytes: number; /** For this user. */ readonly freeBytes: number };

type Reading = { readonly atMs: number; readonly reason: string | null };

const gibibyte = 1024 ** 3;
/** Below both of these no command starts, so the smaller one counts: of a disk of 4 GB the last 200 MB, of a large one the last GiB. */
const reserveBytes = gibibyte;
const reserveShare = 0.05;
/** How long a disk with enough room is not looked at again. One that was full is looked at for each command. */
const freshMs = 30_000;
/** A network disk that does not answer holds nobody up. */
const answerMs = 1_000;

/** Whether there is room for the files of another command. */
export class DiskWatch {
  readonly #deps: Required<DiskWatchDeps>;
  readonly #readings = new Map<string, Reading>();

  constructor({ folders, readSpace = readDiskSpace, nowMs = () => performance.now() }: DiskWatchDeps) {
    this.#deps = { folders, readSpace, nowMs };
  }

  /** Why no command should start that may write to these folders, for an agent and the person behind it; null where there is room. */
  async whyFull(folders: readonly string[]): Promise<string | null> {
    const reasons = await Promise.all(
      [...folders, ...this.#deps.folders].map((folder) => this.#check(folder)),
    );
    return reasons.find((reason) => reason !== null) ?? null;
  }

  async #check(folder: string): Promise<string | null> {
    const { nowMs, readSpace } = this.#deps;
    const known = this.#readings.get(folder);
    if (known?.reason === null && nowMs() - known.atMs < freshMs) return null;
    const answer = new AbortController();
    const space = await Promise.race([
      // A folder that is not there is somebody else's problem.
      readSpace(folder).catch(() => null),
      sleep(answerMs, null, { signal: answer.signal, ref: false }).catch(() => null),
    ]);
    answer.abort();
    const reason = space === null ? null : describeFull(folder, space);
    if (this.#readings.size >= maxReadings) this.#readings.clear();
    this.#readings.set(folder, { atMs: nowMs(), reason });
    return reason;
  }
}

const maxReadings = 1_000;

function describeFull(folder: string, { totalBytes, freeBytes }: DiskSpace): string | null {
  const reserve = Math.min(reserveBytes, totalBytes * reserveShare);
  if (totalBytes === 0 || freeBytes >= reserve) return null;
  return `The disk of ${folder} is nearly full: ${toMegabytes(freeBytes)} MB are free, and no new command starts below ${toMegabytes(reserve)} MB. Commands that run go on. Somebody has to free space on this machine, then commands can be run again.`;
}

function toMegabytes(bytes: number): number {
  return Math.floor(bytes / 1024 ** 2);
}

async function readDiskSpace(folder: string): Promise<DiskSpace> {
  const { blocks, bavail, bsize } = await statfs(folder);
  return { totalBytes: blocks * bsize, freeBytes: bavail * bsize };
}
