import type { UnknownRecord } from "@convoke/client/view";
import { OpenLog, type LogDeps } from "./open-log.ts";

const maxLogs = 8;

/** An LRU cache of open logs: going back to one shows its loaded rows at once. */
export class OpenLogs {
  readonly #deps: LogDeps;
  /** Most recently used last. */
  readonly #logs = new Map<string, OpenLog>();
  readonly #users = new Map<string, number>();

  constructor(deps: LogDeps) {
    this.#deps = deps;
  }

  /** The log, or a window around the event `at`; with `past`, one that ends at that event. */
  get(id: string, at = "", past: UnknownRecord | null = null): OpenLog {
    const key = keyOf(id, at, past);
    const log = this.#logs.get(key) ?? new OpenLog(id, this.#deps, at, past);
    this.#logs.delete(key);
    this.#logs.set(key, log);
    for (const [other, old] of this.#logs) {
      if (this.#logs.size <= maxLogs) break;
      if (this.#users.has(other) || other === key) continue;
      old.hide();
      this.#logs.delete(other);
    }
    return log;
  }

  /** Follows the log until the returned function is called; calls are counted. */
  watch(id: string, at = "", past: UnknownRecord | null = null): () => void {
    const key = keyOf(id, at, past);
    const log = this.get(id, at, past);
    this.#users.set(key, (this.#users.get(key) ?? 0) + 1);
    log.show();
    return () => {
      const left = (this.#users.get(key) ?? 1) - 1;
      if (left > 0) {
        this.#users.set(key, left);
        return;
      }
      this.#users.delete(key);
      log.hide();
    };
  }

  /** Drops a log from the cache, because it was deleted or must be loaded again. */
  forget(id: string): void {
    this.#logs.get(id)?.hide();
    this.#logs.delete(id);
  }

  /** Stops following until {@link wake}; for a page whose login has ended. */
  rest(): void {
    for (const id of this.#users.keys()) this.#logs.get(id)?.hide();
  }

  wake(): void {
    for (const id of this.#users.keys()) this.#logs.get(id)?.wake();
  }
}

function keyOf(id: string, at: string, past: UnknownRecord | null): string {
  return past === null ? id + at : `${id}${at} past`;
}
