import type { ConnectionChange } from "@convoke/client";

/** Long enough for a server that is started again, or for other nodes to take its conversations over. */
const giveUpAfterMs = 60_000;

/** Tells at a command line when the connection to the server is lost and back, and gives up after a minute. */
export class LostConnection implements Disposable {
  readonly #giveUp: () => void;
  readonly #afterMs: number;
  #timer: NodeJS.Timeout | null = null;
  #isGivenUp = false;

  /** `giveUp` ends what follows the server; it is called once, `afterMs` milliseconds after a loss. */
  constructor(giveUp: () => void, afterMs = giveUpAfterMs) {
    this.#giveUp = giveUp;
    this.#afterMs = afterMs;
  }

  get isGivenUp(): boolean {
    return this.#isGivenUp;
  }

  see({ state }: Pick<ConnectionChange, "state">): void {
    if (state === "lost" && this.#timer === null) {
      console.error("The connection to the server was lost. Trying for a minute to get it back.");
      this.#timer = setTimeout(() => {
        this.#isGivenUp = true;
        this.#giveUp();
      }, this.#afterMs);
    }
    if (state !== "connected" || this.#timer === null) return;
    console.error("The connection is back.");
    this.#stop();
  }

  [Symbol.dispose](): void {
    this.#stop();
  }

  #stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}
