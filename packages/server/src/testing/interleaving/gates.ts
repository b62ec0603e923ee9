/** A pending operation that ends when, and how, the explorer decides. */
export type Gate = {
  readonly name: string;
  /** Its possible endings; the first one is the default. */
  readonly endings: () => readonly string[];
  readonly end: (ending: string) => void;
};

/** All pending operations outside the conversation, oldest first. */
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
