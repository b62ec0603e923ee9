import type { Journal } from "../journal/journal.ts";
import type { Described } from "../engine/state/describe.ts";
import { toGlance } from "./glance.ts";

export type SummaryListener = {
  readonly userId: string;
  /** The newest state of one of the user's conversations. */
  readonly onSummary: (id: string, json: string, version: number) => void;
  /** There is no such conversation any more. Also called for others than the user's. */
  readonly onGone: (id: string) => void;
};

export type SummaryFeedDeps = {
  readonly journal: Pick<Journal, "onCommit">;
  readonly describeAll: (
    ids: readonly string[],
  ) => Promise<readonly { readonly ownerId: string; readonly described: Described }[]>;
  readonly onFailure: (error: unknown) => void;
  /** Changes within so long are joined. */
  readonly everyMs?: number;
};

/** A store that does not answer is not asked four times a second. */
const roundsToRetry = 4;

/**
 * Tells who listens how each conversation stands that has changed, at most four times a second each. Reads a conversation once
 * for all listeners, and nothing at all while there is none.
 */
export class GlanceFeed implements Disposable {
  readonly #deps: SummaryFeedDeps;
  readonly #everyMs: number;
  readonly #listeners = new Set<SummaryListener>();
  readonly #changed = new Set<string>();
  readonly #stopCommits: () => void;
  #timer: NodeJS.Timeout | undefined;
  #lastMs = -Infinity;
  #isPublishing = false;

  constructor(deps: SummaryFeedDeps) {
    this.#deps = deps;
    this.#everyMs = deps.everyMs ?? 250;
    this.#stopCommits = deps.journal.onCommit(({ conversationId }) => this.touch(conversationId));
  }

  listen(listener: SummaryListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** It may have changed. */
  touch(id: string): void {
    if (this.#listeners.size === 0) return;
    this.#changed.add(id);
    if (!this.#isPublishing) this.#publishAfter(0);
  }

  [Symbol.dispose](): void {
    this.#stopCommits();
    clearTimeout(this.#timer);
    this.#listeners.clear();
  }

  /** Not sooner than the changes since the last time may be joined. */
  #publishAfter(leastMs: number): void {
    const waitMs = Math.max(leastMs, this.#lastMs + this.#everyMs - performance.now());
    this.#timer ??= setTimeout(() => void this.#publish(), waitMs);
  }

  /** One after the other: what was read before is not told behind what was read later. */
  async #publish(): Promise<void> {
    this.#isPublishing = true;
    let leastMs = 0;
    this.#lastMs = performance.now();
    const ids = [...this.#changed];
    this.#changed.clear();
    this.#timer = undefined;
    try {
      const found = await this.#deps.describeAll(ids);
      const gone = new Set(ids);
      for (const { ownerId, described } of found) {
        gone.delete(described.id);
        const own = [...this.#listeners].filter(({ userId }) => userId === ownerId);
        if (own.length === 0) continue;
        const json = JSON.stringify(toGlance(described));
        for (const { onSummary } of own) onSummary(described.id, json, described.state.lastSeq);
      }
      for (const id of gone) for (const { onGone } of this.#listeners) onGone(id);
    } catch (error) {
      this.#deps.onFailure(error);
      // Who was not told yet is told after a while, together with what changes meanwhile.
      for (const id of ids) this.#changed.add(id);
      leastMs = this.#everyMs * roundsToRetry;
    }
    this.#isPublishing = false;
    if (this.#listeners.size === 0) this.#changed.clear();
    if (this.#changed.size > 0) this.#publishAfter(leastMs);
  }
}
