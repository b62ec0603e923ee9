import type { IncomingMessage } from "node:http";

/** Checks that the page of a request was authenticated before; used where its origin alone is not sufficient. */
type Prove = (request: IncomingMessage) => boolean;

/** Refuses every page until the server has its keys. */
export class PageProofs {
  #prove: Prove = () => false;

  open(prove: Prove): void {
    this.#prove = prove;
  }

  isProven(request: IncomingMessage): boolean {
    return this.#prove(request);
  }
}
