import { StringDecoder } from "node:string_decoder";
import { SecretMask } from "../processes/mask.ts";
import type { ToolSecret } from "../tool.ts";

export type OutputChunk = { readonly stdout: string; readonly stderr: string };

export type OutputChunksDeps = {
  readonly secrets: readonly ToolSecret[];
  readonly onChunk: (chunk: OutputChunk) => void;
  readonly limits?: Partial<OutputLimits>;
};

/** In UTF-16 code units and milliseconds. */
export type OutputLimits = {
  /** Milliseconds after which text is emitted that follows a silence. */
  readonly holdMs: number;
  /** While a command prints continuously, the interval between chunks grows up to this many milliseconds. */
  readonly longestGapMs: number;
  readonly maxChunk: number;
  /** Maximum output of one command; the rest is left out, except a tail. */
  readonly longestOutput: number;
  readonly tail: number;
};

/** The limits of a command's output. The whole output of a short command is one chunk. */
const outputLimits: OutputLimits = {
  holdMs: 50,
  longestGapMs: 1_000,
  // A frame with the chunk stays below 1 MB, the maximum of some clients.
  maxChunk: 256 * 1024,
  longestOutput: 8 * 1024 * 1024,
  tail: 16 * 1024,
};

/** Splits both streams of a command into masked chunks of bounded size, never inside a character or a secret. */
export class OutputChunks {
  readonly #stdout: TextStream;
  readonly #stderr: TextStream;
  readonly #limits: OutputLimits;
  readonly #onChunk: (chunk: OutputChunk) => void;
  #timer: NodeJS.Timeout | undefined;
  #given = 0;
  #gapMs = 0;
  #flushedAtMs = -Infinity;

  constructor({ secrets, onChunk, limits }: OutputChunksDeps) {
    this.#limits = { ...outputLimits, ...limits };
    this.#onChunk = onChunk;
    this.#stdout = new TextStream(secrets, this.#limits.tail);
    this.#stderr = new TextStream(secrets, this.#limits.tail);
  }

  push(name: "stdout" | "stderr", bytes: Buffer): void {
    const stream = name === "stdout" ? this.#stdout : this.#stderr;
    stream.push(bytes, this.#given + this.#waiting >= this.#limits.longestOutput);
    while (this.#waiting >= this.#limits.maxChunk) this.#give();
    if (this.#waiting > 0) this.#timer ??= setTimeout(() => this.#flush(), this.#delayMs()).unref();
  }

  /** Storing or reading a chunk costs about the same whatever its size. So the intervals grow for a command that prints continuously. */
  #delayMs(): number {
    const { holdMs } = this.#limits;
    return Math.max(holdMs, this.#flushedAtMs + this.#gapMs - performance.now());
  }

  /** Returns the text not emitted yet; nothing may be pushed afterwards. `isCut`: the command was ended by us. */
  end(isCut: boolean): OutputChunk {
    clearTimeout(this.#timer);
    this.#stdout.end(isCut);
    this.#stderr.end(isCut);
    while (this.#waiting > this.#limits.maxChunk) this.#give();
    return this.#take();
  }

  get #waiting(): number {
    return this.#stdout.text.length + this.#stderr.text.length;
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const nowMs = performance.now();
    const { holdMs, longestGapMs } = this.#limits;
    const isAfterSilence = nowMs - this.#flushedAtMs > 2 * longestGapMs;
    this.#gapMs = isAfterSilence ? holdMs : Math.min(2 * this.#gapMs, longestGapMs);
    this.#flushedAtMs = nowMs;
    while (this.#waiting > 0) this.#give();
  }

  #give(): void {
    const chunk = this.#take();
    this.#given += chunk.stdout.length + chunk.stderr.length;
    this.#onChunk(chunk);
  }

  #take(): OutputChunk {
    const stdout = this.#stdout.take(this.#limits.maxChunk);
    return { stdout, stderr: this.#stderr.take(this.#limits.maxChunk - stdout.length) };
  }
}

/** One stream: bytes in, masked text out. After the maximum only the tail is stored. */
class TextStream {
  text = "";
  readonly #decoder = new StringDecoder("utf8");
  readonly #mask: SecretMask;
  readonly #tailLength: number;
  #tail = "";
  #leftOut = 0;

  constructor(secrets: readonly ToolSecret[], tailLength: number) {
    this.#mask = new SecretMask(secrets);
    this.#tailLength = tailLength;
  }

  push(bytes: Buffer, isTooLong: boolean): void {
    const text = this.#mask.push(this.#decoder.write(bytes));
    if (!isTooLong && this.#leftOut === 0 && this.#tail === "") this.text += text;
    else this.#keepTail(text);
  }

  end(isCut: boolean): void {
    const last = this.#mask.push(this.#decoder.end());
    const rest = last + (isCut ? this.#mask.cut() : this.#mask.flush());
    if (this.#leftOut === 0 && this.#tail === "") this.text += rest;
    else this.#keepTail(rest);
    if (this.#leftOut > 0) this.text += `\n[${this.#leftOut} characters were left out here]\n`;
    this.text += this.#tail;
    this.#tail = "";
  }

  take(length: number): string {
    let end = Math.min(length, this.text.length);
    // Do not split a surrogate pair.
    if (end < this.text.length && /[\uD800-\uDBFF]/.test(this.text.charAt(end - 1))) end -= 1;
    const taken = this.text.slice(0, end);
    this.text = this.text.slice(end);
    return taken;
  }

  #keepTail(text: string): void {
    const whole = this.#tail + text;
    const cut = Math.max(0, whole.length - this.#tailLength);
    this.#leftOut += cut;
    this.#tail = whole.slice(cut);
  }
}
