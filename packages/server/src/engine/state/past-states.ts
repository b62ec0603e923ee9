import type { ConversationRow, Journal } from "../../journal/journal.ts";
import { parseStored } from "../../events/parse-stored.ts";
import { initialState, type ConversationState } from "./conversation-state.ts";
import { foldedKinds } from "./fold.ts";
import { applyStored, fromCheckpoint } from "./load-state.ts";

type State = Readonly<ConversationState>;
/** Cached states of one conversation, by position. */
type Known = { readonly createdAtMicros: number; readonly states: readonly State[] };

/**
 * Maximum distance to search for a checkpoint; without one, states are cached at this interval. Logs with
 * checkpoints have one twice as often.
 */
const step = 1_024;

/** Maximum number of conversations with cached states. */
const maxEntries = 8;

/**
 * The state of a conversation at any position of its log, folded from the checkpoint before it. A log without
 * checkpoints is folded once from its beginning, and afterwards from cached states.
 */
export class PastStates {
  readonly #journal: Pick<Journal, "readKinds">;
  /** Least recently used first. */
  readonly #known = new Map<string, Known>();

  constructor(journal: Pick<Journal, "readKinds">) {
    this.#journal = journal;
  }

  async at({ id, createdAtMicros }: ConversationRow, seq: number): Promise<State> {
    const cached = this.#known.get(id);
    // An id may be reused with another log after its conversation was deleted.
    const states = cached?.createdAtMicros === createdAtMicros ? cached.states : [];
    const nearest = states.findLast(({ lastSeq }) => lastSeq <= seq) ?? initialState();
    if (seq - nearest.lastSeq <= step) return await this.#fold(id, nearest, seq);
    const checkpoint = await this.#checkpointBefore(id, seq);
    if (checkpoint !== null) return await this.#fold(id, checkpoint, seq);
    const between: State[] = [];
    for (let end = nearest.lastSeq + step; end < seq; end += step)
      between.push(await this.#fold(id, between.at(-1) ?? nearest, end));
    this.#keep(id, { createdAtMicros, states: [...states, ...between] });
    return await this.#fold(id, between.at(-1) ?? nearest, seq);
  }

  #keep(id: string, known: Known): void {
    this.#known.delete(id);
    const states = known.states.toSorted((left, right) => left.lastSeq - right.lastSeq);
    this.#known.set(id, { ...known, states });
    const [oldest] = this.#known.keys();
    if (this.#known.size > maxEntries && oldest !== undefined) this.#known.delete(oldest);
  }

  async #checkpointBefore(id: string, seq: number): Promise<State | null> {
    const stored = await this.#journal.readKinds(id, foldedKinds, Math.max(1, seq - step + 1), seq);
    for (const item of stored.toReversed()) {
      if (item.meta?.includes('"checkpoint"') !== true) continue;
      const state = fromCheckpoint(parseStored(id, item).meta);
      if (state !== null) return state;
    }
    return null;
  }

  async #fold(id: string, from: State, seq: number): Promise<State> {
    const state = { ...from };
    for (const stored of await this.#journal.readKinds(id, foldedKinds, from.lastSeq + 1, seq))
      applyStored(state, id, stored);
    return state;
  }
}
