import type { SocketOutput } from "./socket-output.ts";

/** Milliseconds that a client may ask for. */
export const batchLimits = { minimum: 20, maximum: 1_000 };

/** What waits is sent earlier when it is so long. */
const maxCharacters = 65_536;

/**
 * Sends pieces of answers to one client, together at most once a beat: the first one after a pause at once, as it is, those that
 * come within the beat as one `Pieces` frame at its end. Each frame costs a client more than what is in it.
 */
export class ChunkBatches implements Disposable {
  readonly #output: Pick<SocketOutput, "offer">;
  readonly #batchMs: number;
  #waiting: string[] = [];
  #length = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(output: Pick<SocketOutput, "offer">, batchMs: number) {
    this.#output = output;
    this.#batchMs = batchMs;
  }

  offer(json: string): void {
    if (this.#timer === null) {
      this.#output.offer(json);
      this.#begin();
      return;
    }
    this.#waiting.push(json);
    this.#length += json.length;
    if (this.#length >= maxCharacters) this.flush();
  }

  /** What waits goes out now; whatever is sent next comes behind it. */
  flush(): void {
    const [first] = this.#waiting;
    if (first === undefined) return;
    const frames = this.#waiting;
    this.#waiting = [];
    this.#length = 0;
    this.#output.offer(frames.length === 1 ? first : `{"kind":"Pieces","frames":[${frames.join(",")}]}`);
  }

  [Symbol.dispose](): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  #begin(): void {
    this.#timer = setTimeout(() => {
      this.#timer = null;
      if (this.#waiting.length === 0) return;
      this.flush();
      this.#begin();
    }, this.#batchMs).unref();
  }
}
