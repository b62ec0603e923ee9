import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { Doorbell } from "../doorbell.ts";
import type { TailCache } from "../tail-cache.ts";

export type CommitWatchDeps = {
  readonly doorbell: Doorbell;
  /** A number that changes when another process commits. */
  readonly readVersion: () => Promise<number>;
  /** Null when there is no such conversation (any more). */
  readonly readLastSeq: (conversationId: string) => number | null;
  /** A log that others have changed is forgotten before the ring. */
  readonly tails: Pick<TailCache, "forget">;
};

/** Rings for what other processes on the same store append, while somebody listens. */
export class CommitWatch implements Disposable {
  readonly #deps: CommitWatchDeps;
  /** The last `seq` each listened conversation was rung for; null for one that is gone, which an empty log is not. */
  readonly #rungSeqs = new Map<string, number | null>();
  #timer: NodeJS.Timeout | undefined;
  #version: number | undefined;
  #isDisposed = false;

  constructor(deps: CommitWatchDeps) {
    this.#deps = deps;
  }

  /** Called with each new listener, after it was registered. */
  watch(conversationId: string): void {
    if (!this.#rungSeqs.has(conversationId)) {
      const lastSeq = this.#lastSeqOf(conversationId);
      if (lastSeq !== undefined) this.#rungSeqs.set(conversationId, lastSeq);
    }
    this.#schedule();
  }

  /** Checks one conversation at once; does nothing while nobody listens to it. */
  check(conversationId: string): void {
    if (!this.#isDisposed && this.#deps.doorbell.has(conversationId)) this.#compare(conversationId);
  }

  /** Called with each append of this process. */
  onOwnAppend(conversationId: string, lastSeq: number): void {
    if (this.#rungSeqs.has(conversationId)) this.#rungSeqs.set(conversationId, lastSeq);
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    clearTimeout(this.#timer);
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#isDisposed) return;
    this.#timer = setTimeout(() => {
      void this.#poll().finally(() => {
        this.#timer = undefined;
        if (!this.#deps.doorbell.isIdle) this.#schedule();
      });
    }, pollMs);
    this.#timer.unref();
  }

  async #poll(): Promise<void> {
    const { doorbell, readVersion } = this.#deps;
    let version: number;
    try {
      version = await readVersion();
    } catch {
      // The writer has stopped: every append says so, and no ring can be due.
      return;
    }
    if (version === this.#version) return;
    this.#version = version;
    const listened = doorbell.conversationIds;
    for (const [index, conversationId] of listened.entries()) {
      if (index % pollSlice === pollSlice - 1) await yieldToEventLoop();
      if (this.#isDisposed) return;
      this.#compare(conversationId);
    }
    for (const conversationId of this.#rungSeqs.keys()) {
      if (!doorbell.has(conversationId)) this.#rungSeqs.delete(conversationId);
    }
  }

  #compare(conversationId: string): void {
    const lastSeq = this.#lastSeqOf(conversationId);
    if (lastSeq === undefined || lastSeq === this.#rungSeqs.get(conversationId)) return;
    this.#rungSeqs.set(conversationId, lastSeq);
    this.#deps.tails.forget(conversationId);
    this.#deps.doorbell.ring(conversationId, lastSeq ?? 0);
  }

  /** Undefined when it cannot be read now: the next poll tries again, and readers of the log get the error. */
  #lastSeqOf(conversationId: string): number | null | undefined {
    try {
      return this.#deps.readLastSeq(conversationId);
    } catch {
      this.#version = undefined;
      return undefined;
    }
  }
}

const pollMs = 200;
const pollSlice = 200;
