import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readIfThere } from "../lib/read-if-there.ts";
import { parseObject } from "../lib/json-object.ts";

/** From this score on a conversation is not resumed automatically. */
const tooMany = 3;
/** Score of the conversation that ran last: it is more likely the cause than others in progress. */
const points = { last: 2, working: 1 } as const;

/**
 * Scores of conversations that were running when the watchdog ended a process, summed over starts: one that was
 * suspect in two consecutive standstills is set aside (P2). Kills from outside do not count.
 */
export class Standstills {
  readonly #path: string;
  readonly #points: Map<string, number>;

  private constructor(path: string, counted: Map<string, number>) {
    this.#path = path;
    this.#points = counted;
  }

  /** Reads and durably records the report that the last process left in `directory`, before any run is resumed. */
  static async open(directory: string): Promise<Standstills> {
    const path = join(directory, "standstills.json");
    const record = recordFileIn(directory);
    const counted = new Map(
      Object.entries(parseObject((await readIfThere(path)) ?? "") ?? {}).map(([id, count]) => [
        id,
        Number(count),
      ]),
    );
    const left = await readIfThere(record);
    const standstills = new Standstills(path, counted);
    if (left === null) return standstills;
    // A truncated report has no suspects.
    const { last, working } = parseObject(left) ?? {};
    const ids = new Set(Array.isArray(working) ? working.filter((id) => typeof id === "string") : []);
    if (typeof last === "string") ids.add(last);
    for (const id of ids) {
      counted.set(id, (counted.get(id) ?? 0) + (id === last ? points.last : points.working));
    }
    try {
      await standstills.#save();
      await rm(record, { force: true });
    } catch {
      // A full disk must not prevent startup: the report stays, and is read at the next start.
    }
    return standstills;
  }

  /** True for a suspect, which is resumed separately. */
  isSuspect(id: string): boolean {
    return this.#points.has(id);
  }

  isSetAside(id: string): boolean {
    return (this.#points.get(id) ?? 0) >= tooMany;
  }

  /** Clears a suspect: it was not the cause, or a client wants it tried again. */
  async forget(id: string): Promise<void> {
    if (this.#points.delete(id)) await this.#save();
  }

  async #save(): Promise<void> {
    const next = `${this.#path}.new`;
    await writeFile(next, JSON.stringify(Object.fromEntries(this.#points)), { mode: 0o600, flush: true });
    await rename(next, this.#path);
  }
}

/** The file in which a watchdog records the running conversations. */
export function recordFileIn(directory: string): string {
  return join(directory, "standstill.json");
}
