import type { Watch } from "../../../directory/watch.ts";
import type { SocketOutput } from "./socket-output.ts";

const recheckMs = 50;

/**
 * Sends one client the live status of a conversation, whenever it differs from the last one sent. While the client is
 * behind, only the newest status waits.
 */
export class LiveStatusOutput implements Disposable {
  readonly #watch: Pick<Watch, "liveStatusFrame">;
  readonly #output: Pick<SocketOutput, "offer" | "isBehind">;
  #last: string | null = null;
  #publishing: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #isEnded = false;

  constructor(watch: Pick<Watch, "liveStatusFrame">, output: Pick<SocketOutput, "offer" | "isBehind">) {
    this.#watch = watch;
    this.#output = output;
  }

  publish(): Promise<void> {
    // An earlier failure is repeated here, or has passed.
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
    const frame = await this.#watch.liveStatusFrame();
    if (frame === null || frame === this.#last) return;
    // The client may have fallen behind while the frame was made; an unsent frame must not count as sent.
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
      // A failure here is repeated, and reported, with the next event.
      this.publish().catch(() => {});
    }, recheckMs).unref();
  }
}
