import { setTimeout as sleep, setImmediate as untilPolled } from "node:timers/promises";
import { groupByEnvironment, listProcesses, type ProcessEntry } from "../system/process-table.ts";

/** A snapshot of the process table, without zombies. Each view is read on first use and shared by all callers that got it. */
export class ProcessScan {
  #bySession: Map<number, ProcessEntry[]> | undefined;
  readonly #byVariable = new Map<string, Map<string, ProcessEntry[]>>();

  ofSession(sessionId: number): readonly ProcessEntry[] {
    this.#bySession ??= Map.groupBy(
      listProcesses().filter(({ state }) => state !== "Z"),
      (entry) => entry.sessionId,
    );
    return this.#bySession.get(sessionId) ?? [];
  }

  /** Processes started with `name=value` in their environment. */
  marked(name: string, value: string): readonly ProcessEntry[] {
    let byValue = this.#byVariable.get(name);
    if (byValue === undefined) {
      byValue = groupByEnvironment(name);
      this.#byVariable.set(name, byValue);
    }
    return byValue.get(value) ?? [];
  }
}

/** The pause before the next scan, as a multiple of the last scan's duration: when hundreds of shells end, others need the processor too. */
const restFactor = 4;

/**
 * Gives all callers that ask at about the same time one scan, taken after each of them asked. A scan reads files of every process,
 * so if many shells ended together with a scan each, the time would grow with the square of their number.
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
    // Later callers need a newer scan.
    this.#next = null;
    const startMs = performance.now();
    // The waiting callers read this scan first; the next one comes after them.
    setImmediate(() => {
      const endMs = performance.now();
      this.#restUntil = endMs + (endMs - startMs) * restFactor;
    });
    return new ProcessScan();
  }
}
