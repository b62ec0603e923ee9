/** Something in progress that ends when, and how, the explorer says. */
export type Gate = {
  readonly name: string;
  /** The ways it can end now; the first one is what happens when nobody cares. */
  readonly endings: () => readonly string[];
  readonly end: (ending: string) => void;
};

/** Everything that is in progress outside the conversation, oldest first. */
export class Gates {
  #open: Gate[] = [];

  get open(): readonly Gate[] {
    return this.#open;
  }

  /** Resolves with the ending that the explorer chooses. */
  wait<Ending extends string>(name: string, endings: () => readonly Ending[]): Promise<Ending> {
    return new Promise((resolve) => {
      this.#open.push({ name, endings, end: (ending) => resolve(ending as Ending) });
    });
  }

  end(gate: Gate, ending: string): void {
    this.#open = this.#open.filter((other) => other !== gate);
    gate.end(ending);
  }
}
