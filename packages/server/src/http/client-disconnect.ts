import type { ServerResponse } from "node:http";

/**
 * Detects a client disconnect before the answer is sent. Most answers are ready before the signal is used, so it is
 * created on first use.
 */
export class ClientDisconnect {
  readonly #response: ServerResponse;
  #controller: AbortController | null = null;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  /** Aborts when the client disconnects, or has disconnected. */
  get signal(): AbortSignal {
    if (this.#controller !== null) return this.#controller.signal;
    const response = this.#response;
    const controller = new AbortController();
    this.#controller = controller;
    const leave = (): void => {
      if (!response.writableFinished) controller.abort();
    };
    if (response.closed) leave();
    else response.once("close", leave);
    return controller.signal;
  }
}
