import type { SocketOutput } from "./socket-output.ts";

/** The intervals that a client may request, in milliseconds. */
export const batchLimits = { minimum: 20, maximum: 1_000 };

/** A longer batch is sent before the interval ends. */
const maxCharacters = 65_536;

/**
 * Batches the chunks of answers for one client. The first chunk after a pause is sent at once, by itself; those within
 * the next interval are sent as one `Pieces` frame at its end. A frame costs a client more than its contents.
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

  /** Sends the waiting chunks now, before anything that is sent next. */
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
