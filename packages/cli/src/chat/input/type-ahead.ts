type Input = Pick<NodeJS.ReadStream, "on" | "off" | "pause" | "resume" | "setEncoding" | "setRawMode">;

const ctrlC = "\u0003";

/**
 * Takes the keys that are pressed while the chat starts, as the chat takes them later: nothing is echoed, and enter is enter. Ctrl-c ends
 * the start.
 */
export class TypeAhead implements Disposable {
  readonly #input: Input;
  readonly #onInterrupt: () => void;
  readonly #onData = (text: string): void => this.#take(text);
  #text = "";
  #isOn = true;

  constructor(input: Input, onInterrupt: () => void) {
    this.#input = input;
    this.#onInterrupt = onInterrupt;
    input.setEncoding("utf8").on("data", this.#onData);
    input.setRawMode(true);
    input.resume();
  }

  /** Ends it, and returns what was pressed; the empty text from the second time on. */
  end(): string {
    const text = this.#text;
    this.#text = "";
    if (!this.#isOn) return text;
    this.#isOn = false;
    this.#input.off("data", this.#onData);
    this.#input.pause();
    this.#input.setRawMode(false);
    return text;
  }

  [Symbol.dispose](): void {
    this.end();
  }

  #take(text: string): void {
    if (text.includes(ctrlC)) this.#onInterrupt();
    else this.#text += text;
  }
}
