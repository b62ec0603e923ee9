import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readIfThere } from "../lib/read-if-there.ts";

/** From so many points on a conversation is not gone on with by itself. */
const tooMany = 3;
/** Where the process had turned to last is more likely to blame than what else was in progress. */
const points = { last: 2, working: 1 } as const;

/**
 * Which conversations were at work when the watchdog ended a process, counted over starts: one at which two starts in a row came to a
 * standstill is set aside (P2). Kills from outside count nothing.
 */
export class Standstills {
  readonly #path: string;
  readonly #points: Map<string, number>;

  private constructor(path: string, counted: Map<string, number>) {
    this.#path = path;
    this.#points = counted;
  }

  /** Takes up what the last process left in `directory`, durably, before anything is gone on with. */
  static async open(directory: string): Promise<Standstills> {
    const path = join(directory, "standstills.json");
    const record = recordFileIn(directory);
    const counted = new Map(
      Object.entries(readObject(await readIfThere(path))).map(([id, count]) => [id, Number(count)]),
    );
    const left = await readIfThere(record);
    const standstills = new Standstills(path, counted);
    if (left === null) return standstills;
    const { last, working } = readObject(left) as { last?: unknown; working?: unknown };
    const ids = new Set(Array.isArray(working) ? working.filter((id) => typeof id === "string") : []);
    if (typeof last === "string") ids.add(last);
    for (const id of ids) {
      counted.set(id, (counted.get(id) ?? 0) + (id === last ? points.last : points.working));
    }
    try {
      await standstills.#save();
      await rm(record, { force: true });
    } catch {
      // A disk that takes nothing must not keep the server from starting: the record stays, and is taken up at the next start.
    }
    return standstills;
  }

  /** True for what is to be gone on with alone, because it may have been the reason. */
  isSuspect(id: string): boolean {
    return this.#points.has(id);
  }

  isSetAside(id: string): boolean {
    return (this.#points.get(id) ?? 0) >= tooMany;
  }

  /** It was not the reason, or somebody wants it tried again. */
  async forget(id: string): Promise<void> {
    if (this.#points.delete(id)) await this.#save();
  }

  async #save(): Promise<void> {
    const next = `${this.#path}.new`;
    await writeFile(next, JSON.stringify(Object.fromEntries(this.#points)), { mode: 0o600, flush: true });
    await rename(next, this.#path);
  }
}

/** Where a watchdog writes what was at work. */
export function recordFileIn(directory: string): string {
  return join(directory, "standstill.json");
}

function readObject(text: string | null): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text ?? "{}");
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    // Cut off while it was written: nobody is blamed.
    return {};
  }
}
