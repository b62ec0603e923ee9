/** A piece of what a terminal printed, by places that count characters from its beginning. */
export type TranscriptPage = {
  readonly text: string;
  /** Where `text` begins; later than asked for where the older part is no longer kept. */
  readonly from: number;
  /** Where the next page begins. */
  readonly next: number;
  /** The end of all that was printed so far. */
  readonly end: number;
};

/** What is known of a terminal from outside: what was run in it, and what was printed, already masked. */
export class TerminalRecord {
  readonly #maxCharacters: number;
  #text = "";
  /** Place of the first kept character. */
  #start = 0;
  #command: string | null = null;
  #startedAtMs: number | null = null;
  #exitCode: number | null = null;
  readonly #listeners = new Set<() => void>();

  /** So many characters of what was printed last are kept; none where nobody reads them. */
  constructor(maxCharacters: number) {
    this.#maxCharacters = maxCharacters;
  }

  /** Of the command that runs, or of the one before; null before the first. */
  get command(): string | null {
    return this.#command;
  }

  /** In milliseconds since 1970. */
  get startedAtMs(): number | null {
    return this.#startedAtMs;
  }

  /** Of the last command, null while it runs. */
  get exitCode(): number | null {
    return this.#exitCode;
  }

  get end(): number {
    return this.#start + this.#text.length;
  }

  /** A command was given to the shell. */
  began(command: string): void {
    this.#command = command;
    this.#startedAtMs = Date.now();
    this.#exitCode = null;
    const isLineOpen = this.#text !== "" && !this.#text.endsWith("\n");
    this.append(`${isLineOpen ? "\n" : ""}$ ${command}\n`);
  }

  append(text: string): void {
    if (text === "") return;
    this.#text += text;
    // Cutting only now and then keeps small pieces from copying all of it for each.
    if (this.#text.length > 2 * this.#maxCharacters) this.#forget();
    this.#notify();
  }

  ended(exitCode: number): void {
    this.#exitCode = exitCode;
    this.#notify();
  }

  /** At most `most` characters from `from` on. */
  read(from: number, limit: number): TranscriptPage {
    const begin = Math.min(Math.max(from, this.#start, this.end - this.#maxCharacters), this.end);
    const text = this.#text.slice(begin - this.#start, begin - this.#start + limit);
    return { text, from: begin, next: begin + text.length, end: this.end };
  }

  /** Resolves at the next sign of life, or when the signal aborts. */
  async untilChanged(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const changed = Promise.withResolvers<void>();
    const resolveChanged = (): void => changed.resolve();
    this.#listeners.add(resolveChanged);
    signal.addEventListener("abort", resolveChanged);
    await changed.promise;
    signal.removeEventListener("abort", resolveChanged);
    this.#listeners.delete(resolveChanged);
  }

  #forget(): void {
    const gone = this.#text.length - this.#maxCharacters;
    this.#text = this.#text.slice(gone);
    this.#start += gone;
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }
}
