import { ended } from "../lib/ended.ts";
import { StoppingWork } from "./stopping-work.ts";

/** The signals that end a conversation's work in this process. Each aborts once. */
export class Lifetime {
  readonly #closing = new AbortController();
  readonly #handedOver = new AbortController();
  readonly #lost = new AbortController();
  /** Work that tools delegated. */
  readonly others = new StoppingWork();

  /** Aborts when the conversation leaves this process. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Aborts first when another process takes over: work that outlives this process is not stopped. */
  get handedOver(): AbortSignal {
    return this.#handedOver.signal;
  }

  /** Aborts if another process owns its log already: nothing starts any more. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  close(): void {
    this.#closing.abort(ended);
  }

  handOver(): void {
    this.#handedOver.abort();
  }

  lose(): void {
    this.#lost.abort(ended);
  }
}
