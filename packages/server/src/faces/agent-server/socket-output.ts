import type { WebSocket } from "ws";
import { closeCodes } from "./close-codes.ts";

/** Above this many unsent bytes the cursor waits and signals are dropped. */
const highWaterBytes = 1_000_000;

/** A socket that takes nothing for this long is closed; the client resumes by the last event id it saw (P10). */
const stallMs = 20_000;

const pingEveryMs = 10_000;
const deadAfterMs = 25_000;

/** One client's outgoing side. It never holds more than the high-water mark plus one frame. */
export class SocketOutput {
  readonly #socket: WebSocket;
  readonly #closing = new AbortController();
  readonly #heartbeat: NodeJS.Timeout;
  #lastHeardMs = Date.now();

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on("close", () => this.end());
    socket.on("error", () => this.end());
    socket.on("pong", () => (this.#lastHeardMs = Date.now()));
    socket.on("message", () => (this.#lastHeardMs = Date.now()));
    this.#heartbeat = setInterval(() => this.#beat(), pingEveryMs);
    this.#heartbeat.unref();
  }

  /** Aborts when the socket is closed or closing. */
  get closed(): AbortSignal {
    return this.#closing.signal;
  }

  /** Sends an event; waits while the client is behind. False when the socket is gone. */
  async send(json: string): Promise<boolean> {
    if (this.closed.aborted) return false;
    this.#socket.send(json);
    return this.#socket.bufferedAmount < highWaterBytes ? true : await this.#drained();
  }

  /** Sends a signal, or drops it when the client is behind or gone. */
  offer(json: string): void {
    if (this.closed.aborted || this.#socket.bufferedAmount >= highWaterBytes) return;
    this.#socket.send(json);
  }

  /** Stops the timers and the follower. Idempotent. */
  end(): void {
    clearInterval(this.#heartbeat);
    this.#closing.abort();
  }

  async #drained(): Promise<boolean> {
    let stalledSinceMs = Date.now();
    let lastBuffered = this.#socket.bufferedAmount;
    while (this.#socket.bufferedAmount >= highWaterBytes / 2) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      if (this.closed.aborted) return false;
      const buffered = this.#socket.bufferedAmount;
      if (buffered < lastBuffered) stalledSinceMs = Date.now();
      lastBuffered = buffered;
      if (Date.now() - stalledSinceMs > stallMs) {
        this.#socket.close(closeCodes.tooSlow, "Too slow; resume after the last event id");
        this.end();
        return false;
      }
    }
    return true;
  }

  #beat(): void {
    if (Date.now() - this.#lastHeardMs > deadAfterMs) {
      this.#socket.terminate();
      this.end();
      return;
    }
    this.#socket.ping();
  }
}
