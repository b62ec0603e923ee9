/** Inputs of a person as a stream; inputs after its end are dropped. */
export class Inputs<Input> implements AsyncIterable<Input> {
  readonly #waiting: Input[] = [];
  #wake: () => void = () => {};
  #isEnded = false;

  push(input: Input): void {
    if (!this.#isEnded) this.#waiting.push(input);
    this.#wake();
  }

  end(): void {
    this.#isEnded = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Input> {
    for (;;) {
      const input = this.#waiting.shift();
      if (input !== undefined) yield input;
      else if (this.#isEnded) return;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}
