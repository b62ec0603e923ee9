import type { Size } from "./screen.ts";

export type Streams = {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
};

/** Bracketed paste, focus reports, keys of the kitty protocol, and the window's title put aside. */
const begin = "\u001b[?2004h\u001b[?1004h\u001b[>1u\u001b[22;2t";
const end = "\u001b[23;2t\u001b[<u\u001b[?1004l\u001b[?2004l\u001b[0m\u001b[?25h";

/**
 * A terminal in raw mode, with what the chat needs of it turned on. Whatever ends the process but SIGKILL puts it back as it was; while
 * another program has it, or the process is stopped, it is back too.
 */
export class TerminalSession implements Disposable {
  readonly #streams: Streams;
  readonly #isPlain: boolean;
  readonly #onExit = (): void => this.#leave();
  #onInput: (text: string) => void = () => {};
  #typed: string;
  #isIn = false;

  /** `isPlain`: the terminal edits lines itself, and nothing is turned on. `typed`: what was pressed before, as input. */
  constructor(streams: Streams, isPlain = false, typed = "") {
    this.#typed = typed;
    this.#streams = streams;
    this.#isPlain = isPlain;
    process.once("exit", this.#onExit);
  }

  get size(): Size {
    const { columns, rows } = this.#streams.output;
    // A terminal that does not know its size has that of the first ones.
    return { columns: columns || 80, rows: rows || 24 };
  }

  write(text: string): void {
    this.#streams.output.write(text);
  }

  listen(onInput: (text: string) => void, onResize: () => void): void {
    this.#onInput = onInput;
    const { input, output } = this.#streams;
    input
      .setEncoding("utf8")
      .on("data", (text: string) => this.#onInput(this.#isPlain ? text.replaceAll("\n", "\r") : text));
    output.on("resize", onResize);
    const typed = this.#typed;
    this.#typed = "";
    if (typed !== "") setImmediate(() => this.#onInput(typed));
  }

  enter(): void {
    if (this.#isIn) return;
    this.#isIn = true;
    const { input } = this.#streams;
    input.resume();
    if (this.#isPlain) return;
    input.setRawMode(true);
    this.write(begin);
  }

  /** Gives the terminal to another program until the promise settles. */
  async lend(act: () => Promise<void>): Promise<void> {
    this.#leave();
    this.#streams.input.pause();
    try {
      await act();
    } finally {
      this.enter();
    }
  }

  /**
   * Stops the process and those started with it, as ctrl-z does in a program without raw mode; resolves when it is continued. To be called
   * while the terminal is lent.
   */
  async suspend(): Promise<void> {
    await new Promise<void>((resolve) => {
      process.once("SIGCONT", () => resolve());
      process.kill(0, "SIGTSTP");
    });
  }

  [Symbol.dispose](): void {
    process.off("exit", this.#onExit);
    this.#leave();
    const { input } = this.#streams;
    input.removeAllListeners("data");
    input.pause();
  }

  #leave(): void {
    if (!this.#isIn) return;
    this.#isIn = false;
    if (this.#isPlain) return;
    this.write(end);
    this.#streams.input.setRawMode(false);
  }
}
