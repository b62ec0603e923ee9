import type { SecretMask } from "./mask.ts";

/** Milliseconds after which held text that may begin a secret is shown, if it reveals too little of one. */
const quietMs = 40;

/**
 * Masks output that people read while it is produced. A mask holds back text that may begin a secret; then a person who types would
 * not see single letters. So held text that reveals too little is shown after a moment, and the rest stays hidden when it was a
 * secret after all (P13).
 */
export class LiveMask implements Disposable {
  readonly #mask: SecretMask;
  readonly #onText: (text: string) => void;
  /** Number of held characters that are shown already. */
  #shown = 0;
  #quiet: NodeJS.Timeout | undefined;

  constructor(mask: SecretMask, onText: (text: string) => void) {
    this.#mask = mask;
    this.#onText = onText;
  }

  write(text: string): void {
    clearTimeout(this.#quiet);
    const held = this.#mask.held;
    this.#give(held, this.#mask.push(text));
    if (this.#mask.held.length > this.#shown)
      this.#quiet = setTimeout(() => this.#showHeld(), quietMs).unref();
  }

  /** The text ends here, cut off; the next text is unrelated. */
  cut(): void {
    clearTimeout(this.#quiet);
    const held = this.#mask.held;
    this.#give(held, this.#mask.cut());
    this.#shown = 0;
  }

  /** Drops the held text. */
  [Symbol.dispose](): void {
    clearTimeout(this.#quiet);
  }

  /** The part of the mask's output that was not shown while held; all of it when it turned out to be a secret. */
  #give(held: string, given: string): void {
    const isAsShown = (given + this.#mask.held).startsWith(held.slice(0, this.#shown));
    const fresh = isAsShown ? given.slice(this.#shown) : given;
    this.#shown = isAsShown ? Math.max(0, this.#shown - given.length) : 0;
    if (fresh !== "") this.#onText(fresh);
  }

  #showHeld(): void {
    const held = this.#mask.held;
    if (this.#mask.endsInside("") || held.length <= this.#shown) return;
    const text = held.slice(this.#shown);
    this.#shown = held.length;
    this.#onText(text);
  }
}
