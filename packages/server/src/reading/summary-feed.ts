import type { Journal } from "../journal/journal.ts";
import type { ConversationInfoSource } from "../engine/state/conversation-info.ts";
import { isTrashOwner } from "../lib/trash-owner.ts";
import { toSummary } from "./summary.ts";

export type SummaryListener = {
  readonly userId: string;
  /** The newest state of one of the user's conversations. */
  readonly onSummary: (id: string, json: string, version: number) => void;
  /** The conversation no longer exists. Also called for conversations of other users. */
  readonly onGone: (id: string) => void;
};

export type SummaryFeedDeps = {
  readonly journal: Pick<Journal, "onCommit">;
  readonly describeAll: (
    ids: readonly string[],
  ) => Promise<readonly { readonly ownerId: string; readonly described: ConversationInfoSource }[]>;
  readonly onFailure: (error: unknown) => void;
  /** Changes within this time are joined. */
  readonly everyMs?: number;
};

/** The retry interval when the store does not answer. */
const roundsToRetry = 4;

/**
 * Publishes the summary of each changed conversation to its listeners, at most four times a second each. Reads a
 * conversation once for all listeners, and nothing while there are none.
 */
export class SummaryFeed implements Disposable {
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

  /** Call it when the conversation may have changed. */
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

  /** Waits until the joining time since the last publication is over. */
  #publishAfter(leastMs: number): void {
    const waitMs = Math.max(leastMs, this.#lastMs + this.#everyMs - performance.now());
    this.#timer ??= setTimeout(() => void this.#publish(), waitMs);
  }

  /** Reads are sequential, so that an older state is never published after a newer one. */
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
        if (isTrashOwner(ownerId)) continue;
        gone.delete(described.id);
        const own = [...this.#listeners].filter(({ userId }) => userId === ownerId);
        if (own.length === 0) continue;
        const json = JSON.stringify(toSummary(described));
        for (const { onSummary } of own) onSummary(described.id, json, described.state.lastSeq);
      }
      for (const id of gone) for (const { onGone } of this.#listeners) onGone(id);
    } catch (error) {
      this.#deps.onFailure(error);
      // Listeners that were not reached get the state later, together with further changes.
      for (const id of ids) this.#changed.add(id);
      leastMs = this.#everyMs * roundsToRetry;
    }
    this.#isPublishing = false;
    if (this.#listeners.size === 0) this.#changed.clear();
    if (this.#changed.size > 0) this.#publishAfter(leastMs);
  }
}
