import type { SecretMask } from "./mask.ts";

/** After so long without more, what begins like a secret is shown, as long as that tells too little of it. */
const quietMs = 40;

/**
 * Masks what people read while it is made. A mask holds back what may be the beginning of a secret; who types would not see a
 * single letter until the next. So what is held and tells too little is shown after a moment, and the rest stays hidden when it
 * was a secret after all (P13).
 */
export class LiveMask implements Disposable {
  readonly #mask: SecretMask;
  readonly #onText: (text: string) => void;
  /** Characters that the mask holds back and that are shown already. */
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

  /** The text ends here, cut off; the next is another one. */
  cut(): void {
    clearTimeout(this.#quiet);
    const held = this.#mask.held;
    this.#give(held, this.#mask.cut());
    this.#shown = 0;
  }

  /** Drops what is held. */
  [Symbol.dispose](): void {
    clearTimeout(this.#quiet);
  }

  /** Of what the mask gives out, what was not shown while it was held; all of it when it turned out to be a secret. */
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
