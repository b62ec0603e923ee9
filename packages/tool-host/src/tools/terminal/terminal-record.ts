/** A part of a terminal's output. Positions count characters from the beginning of the output. */
export type TranscriptPage = {
  readonly text: string;
  /** Position of `text`; later than requested when older output was dropped. */
  readonly from: number;
  /** Position of the next page. */
  readonly next: number;
  /** The end of the output so far. */
  readonly end: number;
};

/** The state of a terminal for readers: its commands and its output, masked. */
export class TerminalRecord {
  readonly #maxCharacters: number;
  #text = "";
  /** Position of the first stored character. */
  #start = 0;
  #command: string | null = null;
  #startedAtMs: number | null = null;
  #exitCode: number | null = null;
  readonly #listeners = new Set<() => void>();

  /** `maxCharacters`: how much of the latest output is stored; 0 when nobody reads it. */
  constructor(maxCharacters: number) {
    this.#maxCharacters = maxCharacters;
  }

  /** The running command, or the last one; null before the first. */
  get command(): string | null {
    return this.#command;
  }

  /** Start of that command in milliseconds since 1970. */
  get startedAtMs(): number | null {
    return this.#startedAtMs;
  }

  /** Exit code of the last command; null while it runs. */
  get exitCode(): number | null {
    return this.#exitCode;
  }

  get end(): number {
    return this.#start + this.#text.length;
  }

  /** Records that a command was sent to the shell. */
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
    // Cut only now and then, so that many small chunks do not each copy all of it.
    if (this.#text.length > 2 * this.#maxCharacters) this.#forget();
    this.#notify();
  }

  ended(exitCode: number): void {
    this.#exitCode = exitCode;
    this.#notify();
  }

  /** At most `limit` characters from position `from` on. */
  read(from: number, limit: number): TranscriptPage {
    const begin = Math.min(Math.max(from, this.#start, this.end - this.#maxCharacters), this.end);
    const text = this.#text.slice(begin - this.#start, begin - this.#start + limit);
    return { text, from: begin, next: begin + text.length, end: this.end };
  }

  /** Resolves at the next change, or when the signal aborts. */
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
