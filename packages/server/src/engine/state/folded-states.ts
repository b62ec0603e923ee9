import { DamagedEventError, type ConversationRow } from "../../journal/journal.ts";
import { initialState, type ConversationState } from "./conversation-state.ts";
import { loadState, type LogReader } from "./load-state.ts";

/** Maximum number of cached states; one is about a kilobyte. */
const maxEntries = 2_000;

type Entry = { readonly createdAtMicros: number; readonly state: Readonly<ConversationState> };

/**
 * A cache of states of conversations that are not loaded, valid until their log grows: lists request the same ones
 * repeatedly (P38). A state is a fold of the log alone, so the end of the log decides validity.
 */
export class FoldedStates {
  readonly #journal: LogReader;
  readonly #onDamaged: (error: DamagedEventError) => void;
  /** Least recently used first. */
  readonly #entries = new Map<string, Entry>();

  constructor(journal: LogReader, onDamaged: (error: DamagedEventError) => void) {
    this.#journal = journal;
    this.#onDamaged = onDamaged;
  }

  /**
   * For a log with a damaged event: the state from the row alone, so that one such log does not break a list (P7,
   * P8).
   */
  async of(row: ConversationRow): Promise<Readonly<ConversationState>> {
    const entry = this.#entries.get(row.id);
    // An id may be reused with another log after its conversation was deleted.
    const isSame = entry?.state.lastSeq === row.lastSeq && entry.createdAtMicros === row.createdAtMicros;
    const state = isSame ? entry.state : await this.#load(row);
    this.#entries.delete(row.id);
    this.#entries.set(row.id, { createdAtMicros: row.createdAtMicros, state });
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > maxEntries && oldest !== undefined) this.#entries.delete(oldest);
    return state;
  }

  clear(): void {
    this.#entries.clear();
  }

  async #load(row: ConversationRow): Promise<ConversationState> {
    try {
      return await loadState(this.#journal, row);
    } catch (error) {
      if (!(error instanceof DamagedEventError)) throw error;
      this.#onDamaged(error);
      return stateOfRow(row);
    }
  }
}

/** Nothing runs if the log cannot be read. */
function stateOfRow({ executionStatus, lastSeq }: ConversationRow): ConversationState {
  const status = executionStatus === "running" ? "error" : (executionStatus as ConversationState["status"]);
  return { ...initialState(), lastSeq, status };
}
