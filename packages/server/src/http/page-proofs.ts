import type { IncomingMessage } from "node:http";

/** Whether a request shows that the page which sends it was let in before; asked where its origin alone does not do. */
type Prove = (request: IncomingMessage) => boolean;

/** Nobody is let in so until the server has its keys. */
export class PageProofs {
  #prove: Prove = () => false;

  open(prove: Prove): void {
    this.#prove = prove;
  }

  isProven(request: IncomingMessage): boolean {
    return this.#prove(request);
  }
}
