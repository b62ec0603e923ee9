import type { ServerResponse } from "node:http";

/** Whether a client goes away before it has its answer. Most answers are ready before anybody wants to know, so its signal is made late. */
export class ClientDisconnect {
  readonly #response: ServerResponse;
  #controller: AbortController | null = null;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  /** Aborted when the client goes, or has gone. */
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
