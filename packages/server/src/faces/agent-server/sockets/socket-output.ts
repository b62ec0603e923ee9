import type { Socket } from "node:net";
import type { WebSocket } from "ws";
import type { StoredEvent } from "../../../journal/journal.ts";
import { ended } from "../../../lib/ended.ts";
import { closeCodes } from "./close-codes.ts";
import type { EventFrames } from "./event-frames.ts";
import type { SharedTimer } from "./shared-timer.ts";
import type { SocketTimes } from "./socket-times.ts";

/** Above this many unsent bytes the cursor waits and signals are dropped. */
const highWaterBytes = 1_000_000;
/** Above this many, what a later signal says anew is dropped: it goes before anything else. */
const lowWaterBytes = 64_000;

/**
 * So many looks make a client's patience. A pause of this process itself, in which nobody could be heard, is one look: it
 * closes nobody.
 */
const maxQuietChecks = 10;

/** Between two looks. */
export function checkEveryMs({ deadAfterMs }: SocketTimes): number {
  return deadAfterMs / maxQuietChecks;
}

/** No event: it has no id, and only clients that asked for it get it. */
const heartbeat = JSON.stringify({ kind: "Heartbeat" });

export type SocketOutputDeps = {
  readonly socket: WebSocket;
  /** What `socket` writes to. */
  readonly connection: Socket;
  readonly frames: EventFrames;
  readonly times: SocketTimes;
  /** Looks whether clients are still there. */
  readonly checks: SharedTimer<SocketOutput>;
  /** The client sees no pings (browsers), so each comes as a frame too. */
  readonly hasHeartbeat: boolean;
};

/** One client's outgoing side. It never holds more than the high-water mark plus one piece, however large an event is. */
export class SocketOutput {
  readonly #socket: WebSocket;
  readonly #connection: Socket;
  readonly #frames: EventFrames;
  readonly #times: SocketTimes;
  readonly #timer: SharedTimer<SocketOutput>;
  readonly #heartbeat: NodeJS.Timeout;
  /** Made when somebody asks for it, which most sockets do without. */
  #closing: AbortController | null = null;
  #held: Disposable | null = null;
  #isEnded = false;
  /** Looks at the client since its last sign, and what had come from it by then. */
  #quietChecks = 0;
  #lastBytesRead = 0;
  /** Some frames of an event are out and others are not. */
  #isInsideMessage = false;

  constructor({ socket, connection, frames, times, checks: shared, hasHeartbeat }: SocketOutputDeps) {
    this.#socket = socket;
    this.#connection = connection;
    this.#frames = frames;
    this.#times = times;
    this.#timer = shared;
    const end = (): void => this.end();
    socket.on("close", end);
    // In place of the library's own listener, which keeps the request of the handshake.
    // After a bad frame the library closes with its reason; ended at once, the connection would be reset and the reason lost.
    socket.removeAllListeners("error").on("error", end);
    this.#heartbeat = setInterval(() => {
      socket.ping();
      if (hasHeartbeat) this.offer(heartbeat);
    }, times.pingEveryMs).unref();
    shared.add(this);
  }

  /** True while the client takes less than it gets, and in the middle of a large event: what can wait should. */
  get isBehind(): boolean {
    return this.#isInsideMessage || this.#socket.bufferedAmount >= lowWaterBytes;
  }

  /** Aborts when the socket is closed or closing. */
  get closed(): AbortSignal {
    this.#closing ??= new AbortController();
    if (this.#isEnded) this.#closing.abort(ended);
    return this.#closing.signal;
  }

  /** Disposes of it when the socket is closed or closing, which costs less than a signal. One thing at most. */
  hold(held: Disposable): void {
    this.#held = held;
    if (this.#isEnded) held[Symbol.dispose]();
  }

  /** A client of which nothing came for so many looks is gone. Part of a frame is a sign of it as well. */
  check(): void {
    const { bytesRead } = this.#connection;
    // The time since the last look, in which something came, may have been quiet as well for the most part.
    this.#quietChecks = bytesRead === this.#lastBytesRead ? this.#quietChecks + 1 : 1;
    this.#lastBytesRead = bytesRead;
    if (this.#quietChecks >= maxQuietChecks) this.#socket.terminate();
  }

  /**
   * Sends events; waits while the client is behind. False when the socket is gone. The bytes are made once for all sockets
   * and go out below `ws`, which without compression writes each of its own frames whole and at once too.
   */
  async send(events: readonly StoredEvent[]): Promise<boolean> {
    for (const chunk of this.#frames.of(events)) {
      if (this.#isEnded || this.#socket.readyState !== this.#socket.OPEN) return false;
      this.#connection.write(chunk.bytes);
      this.#isInsideMessage = !chunk.endsMessage;
      if (this.#socket.bufferedAmount >= highWaterBytes && !(await this.#drained())) return false;
    }
    return true;
  }

  /** Sends a signal, or drops it when the client is behind, in the middle of a large event, or gone. */
  offer(json: string, isPassing = false): void {
    if (this.#isEnded || this.#isInsideMessage) return;
    if (this.#socket.bufferedAmount >= (isPassing ? lowWaterBytes : highWaterBytes)) return;
    this.#socket.send(json);
  }

  /** Stops the timers and the follower. Idempotent. */
  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    clearInterval(this.#heartbeat);
    this.#timer.delete(this);
    this.#closing?.abort(ended);
    this.#held?.[Symbol.dispose]();
  }

  /** What waits for the client, and its connection, are given up when it does not even take the closing. */
  #closeSlow(): void {
    this.#socket.close(closeCodes.tooSlow, "Too slow; resume after the last event id");
    this.end();
    const cut = setTimeout(() => this.#socket.terminate(), this.#times.closingMs);
    this.#socket.once("close", () => clearTimeout(cut));
  }

  async #drained(): Promise<boolean> {
    let stalledMs = 0;
    let lastCheckMs = performance.now();
    let lastBuffered = this.#socket.bufferedAmount;
    while (this.#socket.bufferedAmount >= highWaterBytes / 2) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      if (this.#isEnded) return false;
      const buffered = this.#socket.bufferedAmount;
      const nowMs = performance.now();
      stalledMs += Math.min(nowMs - lastCheckMs, this.#times.stallMs / maxQuietChecks);
      lastCheckMs = nowMs;
      if (buffered < lastBuffered) {
        stalledMs = 0;
        // Somebody takes it; on a slow line a pong comes long after what was sent before its ping.
        this.#quietChecks = 0;
      }
      lastBuffered = buffered;
      if (stalledMs > this.#times.stallMs) {
        this.#closeSlow();
        return false;
      }
    }
    return true;
  }
}
