import { setTimeout as sleep, setImmediate as untilPolled } from "node:timers/promises";
import { listProcesses, readEnvironment, type ProcessEntry } from "./process-table.ts";

/** One look at the whole process table, without zombies. It is read when first asked, and shared by all who got it. */
export class ProcessScan {
  #entries: readonly ProcessEntry[] | undefined;
  #bySession: Map<number, ProcessEntry[]> | undefined;
  readonly #byVariable = new Map<string, Map<string | undefined, ProcessEntry[]>>();

  ofSession(sessionId: number): readonly ProcessEntry[] {
    this.#bySession ??= Map.groupBy(this.#all(), (entry) => entry.sessionId);
    return this.#bySession.get(sessionId) ?? [];
  }

  /** Those whose program was started with `name=value` in its environment. */
  marked(name: string, value: string): readonly ProcessEntry[] {
    let byValue = this.#byVariable.get(name);
    if (byValue === undefined) {
      byValue = Map.groupBy(this.#all(), ({ pid }) => readEnvironment(pid, name));
      this.#byVariable.set(name, byValue);
    }
    return byValue.get(value) ?? [];
  }

  #all(): readonly ProcessEntry[] {
    this.#entries ??= listProcesses().filter(({ state }) => state !== "Z");
    return this.#entries;
  }
}

/** So many times as long as the last scan took there is none: hundreds of shells that end must leave the processor to others. */
const restFactor = 4;

/**
 * Gives all who ask at about the same time one scan, which is taken after each of them asked. A scan reads files of every process there is,
 * so that many shells that end together, each with scans of its own, would take the square of their number.
 */
export class ProcessScans {
  #next: Promise<ProcessScan> | null = null;
  #restUntil = 0;

  next(): Promise<ProcessScan> {
    this.#next ??= this.#take();
    return this.#next;
  }

  async #take(): Promise<ProcessScan> {
    const restMs = this.#restUntil - performance.now();
    if (restMs > 0) await sleep(restMs);
    await untilPolled();
    // Who asks from now on needs a newer one.
    this.#next = null;
    const startMs = performance.now();
    // Those who wait read it at once, one after another, and then comes this.
    setImmediate(() => {
      const endMs = performance.now();
      this.#restUntil = endMs + (endMs - startMs) * restFactor;
    });
    return new ProcessScan();
  }
}
