import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describeError } from "../lib/describe-error.ts";
import type { Logger } from "../lib/logger.ts";
import type { HomeUses } from "./home-uses.ts";
import { measureHome } from "./measure-home.ts";

/** How large private homes may be, and how long they are kept. */
export type HomeLimits = {
  /** Above it caches are dropped. */
  readonly maxMb: number;
  /** Days without use after which a home is removed. */
  readonly maxUnusedDays: number;
};

export type PrivateHomesDeps = {
  readonly homesDir: string;
  readonly uses: HomeUses;
  readonly limits: HomeLimits;
  readonly logger: Logger;
  readonly nowMs?: () => number;
};

/** What is known of a home; the time of the file is that of the last use. */
type HomeRecord = {
  readonly folder: string;
  /** Since when the folder was not there. */ readonly goneSinceMs?: number;
};

const run = promisify(execFile);
const measureMs = 60_000;
const dayMs = 24 * 60 * 60_000;
const megabyte = 1024 ** 2;
const homeName = /^[0-9a-f]{16}$/;

/** The private homes of walls: their size and their end. */
export class PrivateHomes {
  readonly #deps: PrivateHomesDeps;
  readonly #nowMs: () => number;
  /** What agents have to know of their home, by its name. */
  readonly #notes = new Map<string, string>();
  readonly #work = new Set<Promise<void>>();
  #timer: NodeJS.Timeout | undefined;
  readonly #closing = new AbortController();

  constructor(deps: PrivateHomesDeps) {
    this.#deps = deps;
    this.#nowMs = deps.nowMs ?? Date.now;
  }

  /** Removes what nobody needs, now and once a day, in the background. */
  start(): void {
    this.#background(() => this.sweep());
    this.#timer = setInterval(() => this.#background(() => this.sweep()), dayMs).unref();
  }

  /** Before a wall starts. */
  async hold(home: string, wall: string, folder: string): Promise<void> {
    const { homesDir, uses } = this.#deps;
    await mkdir(homesDir, { recursive: true, mode: 0o711 });
    await uses.hold(home, wall);
    await this.#write(home, { folder });
  }

  /** After a wall has ended: the home is counted in the background. */
  async release(home: string, wall: string): Promise<void> {
    await this.#deps.uses.release(home, wall);
    this.#background(() => this.bound(home));
  }

  /** What the agent has to know since it was asked last. */
  takeNote(home: string): string | null {
    const note = this.#notes.get(home) ?? null;
    this.#notes.delete(home);
    return note;
  }

  /** Drops caches of a home that no wall uses, those that changed least recently first, until it is small enough. */
  async bound(home: string): Promise<void> {
    const { homesDir, uses, limits, logger } = this.#deps;
    const place = join(homesDir, home);
    const maxBytes = limits.maxMb * megabyte;
    await uses.whileUnused(home, async () => {
      const { bytes, caches } = await measureHome(place, measureMs);
      let left = bytes;
      const dropped: string[] = [];
      for (const cache of caches) {
        if (left <= maxBytes) break;
        await this.#discard(cache.path);
        left -= cache.bytes;
        dropped.push(`${cache.path.slice(place.length + 1)} (${Math.ceil(cache.bytes / megabyte)} MB)`);
      }
      if (bytes <= maxBytes) return;
      const rest =
        left > maxBytes ? ` It still has ${Math.ceil(left / megabyte)} MB: remove what is not needed.` : "";
      const droppedText = dropped.length === 0 ? "" : ` Dropped: ${dropped.join(", ")}.`;
      const note = `Home: ${Math.ceil(bytes / megabyte)} MB were in the home of this folder, and ${limits.maxMb} may be (CONVOKE_WALL_HOME_MB).${droppedText}${rest}`;
      this.#notes.set(home, note);
      logger.warn({ home: place, dropped, bytes, left }, "a private home was too large");
    });
  }

  /** Removes homes that were not used for long, and those whose working folder is gone for more than a day. */
  async sweep(): Promise<void> {
    const { homesDir, uses, logger } = this.#deps;
    for (const name of await readdir(homesDir).catch(() => [])) {
      if (this.#closing.signal.aborted) return;
      if (name.startsWith(discarded)) await this.#erase(join(homesDir, name));
      if (!homeName.test(name) || !(await this.#isOver(name))) continue;
      const isRemoved = await uses.whileUnused(name, async () => {
        await this.#discard(join(homesDir, name));
        await rm(this.#recordOf(name), { force: true });
      });
      if (isRemoved) logger.info({ home: join(homesDir, name) }, "an unused private home was removed");
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    this.#closing.abort();
    await Promise.all(this.#work);
  }

  async #isOver(name: string): Promise<boolean> {
    const file = this.#recordOf(name);
    const used = (await stat(file).catch(() => null)) ?? (await stat(join(this.#deps.homesDir, name)));
    if (this.#nowMs() - used.mtimeMs > this.#deps.limits.maxUnusedDays * dayMs) return true;
    const text = await readFile(file, "utf8").catch(() => null);
    if (text === null) return false;
    const { folder, goneSinceMs } = JSON.parse(text) as HomeRecord;
    if (!(await isGone(folder))) return false;
    // Its disk may only be missing now.
    if (goneSinceMs !== undefined) return this.#nowMs() - goneSinceMs > dayMs;
    await this.#write(name, { folder, goneSinceMs: this.#nowMs() });
    await utimes(file, used.atime, used.mtime);
    return false;
  }

  async #write(name: string, record: HomeRecord): Promise<void> {
    await writeFile(this.#recordOf(name), JSON.stringify(record), { mode: 0o600 });
  }

  #recordOf(name: string): string {
    return join(this.#deps.homesDir, `${name}.json`);
  }

  /** Gone at once; its files are erased afterwards. */
  async #discard(path: string): Promise<void> {
    const to = join(this.#deps.homesDir, `${discarded}${randomUUID()}`);
    await rename(path, to);
    await this.#erase(to);
  }

  /** Folders of caches may be read-only. What is left when this is stopped goes with the next sweep. */
  async #erase(path: string): Promise<void> {
    const { signal } = this.#closing;
    try {
      await run("nice", ["-n", "19", "chmod", "-R", "u+rwX", "--", path], { signal });
      await run("nice", ["-n", "19", "rm", "-rf", "--", path], { signal });
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  #background(work: () => Promise<void>): void {
    const running = work().catch((error: unknown) => {
      this.#deps.logger.warn({ error: describeError(error) }, "private homes could not be looked after");
    });
    this.#work.add(running);
    void running.then(() => this.#work.delete(running));
  }
}

const discarded = "discarded-";

async function isGone(folder: string): Promise<boolean> {
  return await stat(folder).then(
    () => false,
    (error: unknown) => (error as NodeJS.ErrnoException).code === "ENOENT",
  );
}
