import type { Socket } from "node:net";
import type { WebSocket } from "ws";
import type { StoredEvent } from "../../../journal/journal.ts";
import { ended } from "../../../lib/ended.ts";
import { closeCodes } from "./close-codes.ts";
import type { EventFrames } from "./event-frames.ts";
import type { SocketTimes } from "./socket-times.ts";

/** Above this many unsent bytes the cursor waits and signals are dropped. */
const highWaterBytes = 1_000_000;
/** Above this many, what a later signal says anew is dropped: it goes before anything else. */
const lowWaterBytes = 64_000;

/**
 * So many looks make a client's patience. A pause of this process itself, in which nobody could be heard, is one look: it
 * closes nobody.
 */
const looks = 10;

/** No event: it has no id, and only clients that asked for it get it. */
const heartbeat = JSON.stringify({ kind: "Heartbeat" });

export type SocketOutputDeps = {
  readonly socket: WebSocket;
  /** What `socket` writes to. */
  readonly connection: Socket;
  readonly frames: EventFrames;
  readonly times: SocketTimes;
  /** The client sees no pings (browsers), so each comes as a frame too. */
  readonly hasHeartbeat: boolean;
};

/** One client's outgoing side. It never holds more than the high-water mark plus one piece, however large an event is. */
export class SocketOutput {
  readonly #socket: WebSocket;
  readonly #connection: Socket;
  readonly #frames: EventFrames;
  readonly #closing = new AbortController();
  readonly #heartbeat: NodeJS.Timeout;
  readonly #dead: NodeJS.Timeout;
  readonly #stallMs: number;
  readonly #closingMs: number;
  /** Looks at the client since its last sign. */
  #quietLooks = 0;
  /** Some frames of an event are out and others are not. */
  #isInsideMessage = false;

  constructor({ socket, connection, frames, times, hasHeartbeat }: SocketOutputDeps) {
    this.#socket = socket;
    this.#connection = connection;
    this.#frames = frames;
    this.#stallMs = times.stallMs;
    this.#closingMs = times.closingMs;
    socket.on("close", () => this.end());
    // In place of the library's own listener, which keeps the request of the handshake.
    // After a bad frame the library closes with its reason; ended at once, the connection would be reset and the reason lost.
    socket.removeAllListeners("error").on("error", () => this.end());
    this.#heartbeat = setInterval(() => {
      socket.ping();
      if (hasHeartbeat) this.offer(heartbeat);
    }, times.pingEveryMs).unref();
    this.#dead = setInterval(() => {
      this.#quietLooks += 1;
      if (this.#quietLooks >= looks) socket.terminate();
    }, times.deadAfterMs / looks).unref();
    for (const sign of ["pong", "ping", "message"] as const) socket.on(sign, () => this.#hear());
  }

  /** True while the client takes less than it gets, and in the middle of a large event: what can wait should. */
  get isBehind(): boolean {
    return this.#isInsideMessage || this.#socket.bufferedAmount >= lowWaterBytes;
  }

  /** Aborts when the socket is closed or closing. */
  get closed(): AbortSignal {
    return this.#closing.signal;
  }

  /**
   * Sends events; waits while the client is behind. False when the socket is gone. The bytes are made once for all sockets
   * and go out below `ws`, which without compression writes each of its own frames whole and at once too.
   */
  async send(events: readonly StoredEvent[]): Promise<boolean> {
    for (const piece of this.#frames.of(events)) {
      if (this.closed.aborted || this.#socket.readyState !== this.#socket.OPEN) return false;
      this.#connection.write(piece.bytes);
      this.#isInsideMessage = !piece.endsMessage;
      if (this.#socket.bufferedAmount >= highWaterBytes && !(await this.#drained())) return false;
    }
    return true;
  }

  /** Sends a signal, or drops it when the client is behind, in the middle of a large event, or gone. */
  offer(json: string, isPassing = false): void {
    if (this.closed.aborted || this.#isInsideMessage) return;
    if (this.#socket.bufferedAmount >= (isPassing ? lowWaterBytes : highWaterBytes)) return;
    this.#socket.send(json);
  }

  /** Stops the timers and the follower. Idempotent. */
  end(): void {
    clearInterval(this.#heartbeat);
    clearInterval(this.#dead);
    this.#closing.abort(ended);
  }

  /** What waits for the client, and its connection, are given up when it does not even take the closing. */
  #closeSlow(): void {
    this.#socket.close(closeCodes.tooSlow, "Too slow; resume after the last event id");
    this.end();
    const cut = setTimeout(() => this.#socket.terminate(), this.#closingMs);
    this.#socket.once("close", () => clearTimeout(cut));
  }

  #hear(): void {
    this.#quietLooks = 0;
  }

  async #drained(): Promise<boolean> {
    let stalledMs = 0;
    let lastLookMs = performance.now();
    let lastBuffered = this.#socket.bufferedAmount;
    while (this.#socket.bufferedAmount >= highWaterBytes / 2) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      if (this.closed.aborted) return false;
      const buffered = this.#socket.bufferedAmount;
      const nowMs = performance.now();
      stalledMs += Math.min(nowMs - lastLookMs, this.#stallMs / looks);
      lastLookMs = nowMs;
      if (buffered < lastBuffered) {
        stalledMs = 0;
        // Somebody takes it; on a slow line a pong comes long after what was sent before its ping.
        this.#hear();
      }
      lastBuffered = buffered;
      if (stalledMs > this.#stallMs) {
        this.#closeSlow();
        return false;
      }
    }
    return true;
  }
}
