import type { Duplex } from "node:stream";
import type { SocketTimes } from "../agent-server/sockets/socket-times.ts";
import { SharedTimer } from "../agent-server/sockets/shared-timer.ts";

type Forwarded = { readonly stream: Duplex; readonly isStillGood: () => boolean };

/** Cuts the streams that are forwarded to programs once the key that opened them has ended, or may less. */
export class ForwardedStreams {
  readonly #timer: SharedTimer<Forwarded>;

  constructor({ keyCheckEveryMs }: Pick<SocketTimes, "keyCheckEveryMs">) {
    this.#timer = new SharedTimer(keyCheckEveryMs, ({ stream, isStillGood }) => {
      if (!isStillGood()) stream.destroy();
    });
  }

  /** Checks until the stream closes; what forwards it closes the client's side with it. */
  watch(stream: Duplex, isStillGood: () => boolean): void {
    if (stream.destroyed) return;
    const forwarded = { stream, isStillGood };
    this.#timer.add(forwarded);
    stream.once("close", () => this.#timer.delete(forwarded));
  }
}
