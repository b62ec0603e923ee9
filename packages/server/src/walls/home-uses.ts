import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { readProcess } from "@convoke/tool-host";

export type HomeUsesDeps = {
  /** The private homes of a data folder, each by its name. */
  readonly homesDir: string;
  /** The folders of all server processes with walls of this data folder, by {@link processName}. */
  readonly runsDir: string;
};

const waitMs = 25_000;
const pollMs = 50;

/** The name of a process, which no later one has. */
export function processName(pid: number = process.pid): string {
  return `${pid}-${readProcess(pid)?.startTicks ?? 0}`;
}

export function isProcessAlive(name: string): boolean {
  const [pid, startTicks] = name.split("-").map(Number);
  return readProcess(pid ?? 0)?.startTicks === startTicks;
}

/**
 * Which private homes are in use, by any server process on the data folder. A wall marks its home first and looks for a cleaner then, a
 * cleaner locks the home first and looks for marks then: one of the two always sees the other.
 */
export class HomeUses {
  readonly #deps: HomeUsesDeps;

  constructor(deps: HomeUsesDeps) {
    this.#deps = deps;
  }

  /** Marks a home as used by this wall. Waits while it is being cleaned; rejects when that takes too long. */
  async hold(home: string, wall: string): Promise<void> {
    const marks = this.#marksOf(processName());
    await mkdir(marks, { recursive: true, mode: 0o700 });
    await writeFile(join(marks, `${home}.${wall}`), "");
    const deadlineMs = performance.now() + waitMs;
    while (await this.#isLocked(home)) {
      if (performance.now() > deadlineMs) {
        await this.release(home, wall);
        throw new Error("The private home of this folder is being cleaned. Try again in a minute.");
      }
      await sleep(pollMs);
    }
  }

  async release(home: string, wall: string): Promise<void> {
    await rm(join(this.#marksOf(processName()), `${home}.${wall}`), { force: true });
  }

  /** Does work on a home that no wall uses; returns false without doing it where one does. */
  async whileUnused(home: string, work: () => Promise<void>): Promise<boolean> {
    const lock = this.#lockOf(home);
    if (await this.#isLocked(home)) return false;
    try {
      await writeFile(lock, processName(), { flag: "wx", mode: 0o600 });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
      throw error;
    }
    try {
      if (await this.#isUsed(home)) return false;
      await work();
      return true;
    } finally {
      await rm(lock, { force: true });
    }
  }

  async #isUsed(home: string): Promise<boolean> {
    for (const name of await readdir(this.#deps.runsDir)) {
      if (!isProcessAlive(name)) continue;
      const marks = await readdir(this.#marksOf(name)).catch(() => []);
      if (marks.some((mark) => mark.startsWith(`${home}.`))) return true;
    }
    return false;
  }

  /** The lock of a process that has ended is removed. */
  async #isLocked(home: string): Promise<boolean> {
    const owner = await readFile(this.#lockOf(home), "utf8").catch(() => null);
    if (owner === null) return false;
    // It was made a moment ago and is not written yet.
    if (owner === "" || isProcessAlive(owner)) return true;
    await rm(this.#lockOf(home), { force: true });
    return false;
  }

  #marksOf(process: string): string {
    return join(this.#deps.runsDir, process, "homes");
  }

  #lockOf(home: string): string {
    return join(this.#deps.homesDir, `${home}.cleaning`);
  }
}
