import type { Socket } from "node:net";
import { readLogFrames } from "./read-log-frames.ts";

const maxLogBytes = 64 * 1024;

/** A connection to the streams of a container: its input is open for as long as this is, and its output comes in. */
export class ContainerAttachment {
  /** Resolves when the container has ended, or the engine has closed the connection. */
  readonly closed: Promise<void>;
  readonly #socket: Socket;
  #printed = Buffer.alloc(0);

  constructor(socket: Socket, head: Buffer) {
    this.#socket = socket;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.closed = promise;
    this.#keep(head);
    socket
      .on("data", (bytes: Buffer) => this.#keep(bytes))
      .on("error", () => socket.destroy())
      .once("end", () => socket.destroy())
      .once("close", () => resolve());
  }

  /** Whole frames only: what it printed first, which is where a start fails. */
  get printed(): string {
    return readLogFrames(this.#printed);
  }

  close(): void {
    this.#socket.destroy();
  }

  #keep(bytes: Buffer): void {
    if (this.#printed.length < maxLogBytes) this.#printed = Buffer.concat([this.#printed, bytes]);
  }
}
