import type { Keep } from "../lib/keep.ts";

/** What was typed and not sent, one for each conversation and one for a new one. */
export class Drafts {
  readonly #keep: Keep;

  constructor(keep: Keep) {
    this.#keep = keep;
  }

  read(place: string): string {
    const text = this.#keep.read(`draft.${place}`);
    return typeof text === "string" ? text : "";
  }

  write(place: string, text: string): void {
    if (text === "") this.#keep.remove(`draft.${place}`);
    else this.#keep.write(`draft.${place}`, text);
  }
}
