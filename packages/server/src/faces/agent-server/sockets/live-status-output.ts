import type { Watch } from "../../../directory/watch.ts";
import type { SocketOutput } from "./socket-output.ts";

const recheckMs = 50;

/**
 * Tells one client how the conversation stands, whenever that is something else than it was told last; one after another. While
 * the client is behind, only the newest waits for it.
 */
export class LiveStatusOutput implements Disposable {
  readonly #watch: Pick<Watch, "standingFrame">;
  readonly #output: Pick<SocketOutput, "offer" | "isBehind">;
  #last: string | null = null;
  #publishing: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #isEnded = false;

  constructor(watch: Pick<Watch, "standingFrame">, output: Pick<SocketOutput, "offer" | "isBehind">) {
    this.#watch = watch;
    this.#output = output;
  }

  publish(): Promise<void> {
    // What failed before fails again here, or is mended.
    this.#publishing = this.#publishing.catch(() => {}).then(() => this.#publish());
    return this.#publishing;
  }

  [Symbol.dispose](): void {
    this.#isEnded = true;
    clearTimeout(this.#timer);
  }

  async #publish(): Promise<void> {
    if (this.#isEnded || this.#timer !== undefined) return;
    if (this.#output.isBehind) {
      this.#recheck();
      return;
    }
    const frame = await this.#watch.standingFrame();
    if (frame === null || frame === this.#last) return;
    // It may have fallen behind while the frame was made; one that is not sent was not told.
    if (this.#output.isBehind) {
      this.#recheck();
      return;
    }
    this.#last = frame;
    this.#output.offer(frame);
  }

  #recheck(): void {
    if (this.#isEnded) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      // What fails here fails again, and is told, with the next event.
      this.publish().catch(() => {});
    }, recheckMs).unref();
  }
}
