import type { Turn } from "@convoke/client/view";

/**
 * Which turns are expanded. The newest is; older ones are collapsed when first shown. A turn that was expanded on
 * screen stays so, even if an older page shows where it starts.
 */
export class TurnFolding {
  readonly #isOpen: Map<string, boolean>;
  /** A row of the turn whose start is not loaded. */
  #partialRow: string | null = null;
  /** The last row at the previous update. */
  #shown: string | null = null;

  /** Expanded turns of the saved scroll position. */
  constructor(turns: ReadonlyMap<string, boolean> = new Map()) {
    this.#isOpen = new Map(turns);
  }

  /** Seen turns, by key. */
  get turns(): ReadonlyMap<string, boolean> {
    return this.#isOpen;
  }

  isOpen({ key }: Turn): boolean {
    return this.#isOpen.get(key) ?? false;
  }

  toggle({ key }: Turn): void {
    this.#isOpen.set(key, !(this.#isOpen.get(key) ?? false));
  }

  /** Registers the current turns; call before `isOpen`. Expands the turn of the row `shown` once. */
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
