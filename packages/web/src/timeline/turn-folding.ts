import type { Turn } from "../folds/fold-turns.ts";

/**
 * Which turns are open. The newest is; older ones are folded when they are first seen. What was open while somebody looked stays
 * open: a turn never folds under the eyes of its reader, also not when an older page shows where it began.
 */
export class TurnFolding {
  readonly #isOpen: Map<string, boolean>;
  /** A row of the turn whose beginning is not known yet. */
  #partialRow: string | null = null;
  /** The row that was shown last. */
  #shown: string | null = null;

  /** Which turns were open when it was read before. */
  constructor(turns: ReadonlyMap<string, boolean> = new Map()) {
    this.#isOpen = new Map(turns);
  }

  /** Those that were seen, by key. */
  get turns(): ReadonlyMap<string, boolean> {
    return this.#isOpen;
  }

  isOpen({ key }: Turn): boolean {
    return this.#isOpen.get(key) ?? false;
  }

  toggle({ key }: Turn): void {
    this.#isOpen.set(key, !(this.#isOpen.get(key) ?? false));
  }

  /** Takes note of the turns that are there now; to be called before `isOpen`. That of the row `shown` is opened once. */
  see(turns: readonly Turn[], shown: string | null = null): void {
    for (const row of [this.#partialRow, shown === this.#shown ? null : shown]) {
      const turn = turns.find(
        ({ rows, message }) => message?.id === row || rows.some(({ id }) => id === row),
      );
      if (turn !== undefined && (row === shown || !this.#isOpen.has(turn.key)))
        this.#isOpen.set(turn.key, true);
    }
    if (turns.length > 0) this.#shown = shown;
    const [first] = turns;
    this.#partialRow = first?.message === null ? (first.rows[0]?.id ?? null) : null;
    if (first?.message === null) this.#isOpen.set(first.key, true);
    const last = turns.at(-1);
    if (last !== undefined && !this.#isOpen.has(last.key)) this.#isOpen.set(last.key, true);
  }
}
