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
/** Above this many unsent bytes, signals that a later one supersedes are dropped first. */
const lowWaterBytes = 64_000;

/**
 * A client is dropped after this many checks without input. The timeout is counted in checks and not in time, so that a
 * stalled event loop closes nobody.
 */
const maxQuietChecks = 10;

/** Milliseconds between two checks. */
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
  /** The timer that checks whether clients are still connected. */
  readonly checks: SharedTimer<SocketOutput>;
  /** The client sees no pings (browsers), so each comes as a frame too. */
  readonly hasHeartbeat: boolean;
};

/**
 * The outgoing side of one client. It never buffers more than the high-water mark plus one chunk, however large an
 * event is.
 */
export class SocketOutput {
  readonly #socket: WebSocket;
  readonly #connection: Socket;
  readonly #frames: EventFrames;
  readonly #times: SocketTimes;
  readonly #timer: SharedTimer<SocketOutput>;
  readonly #heartbeat: NodeJS.Timeout;
  /** Created on first use: most sockets never need it. */
  #closing: AbortController | null = null;
  #held: Disposable | null = null;
  #isEnded = false;
  /** The checks since the last input of the client, and the bytes received by then. */
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
    // Replaces the library's own listener, which holds the request of the handshake. After a bad frame the library
    // closes with its reason; ended at once, the connection would be reset and the reason lost.
    socket.removeAllListeners("error").on("error", end);
    this.#heartbeat = setInterval(() => {
      socket.ping();
      if (hasHeartbeat) this.offer(heartbeat);
    }, times.pingEveryMs).unref();
    shared.add(this);
  }

  /** True while the client reads too slowly, and in the middle of a large event: optional frames should wait. */
  get isBehind(): boolean {
    return this.#isInsideMessage || this.#socket.bufferedAmount >= lowWaterBytes;
  }

  /** Aborts when the socket is closed or closing. */
  get closed(): AbortSignal {
    this.#closing ??= new AbortController();
    if (this.#isEnded) this.#closing.abort(ended);
    return this.#closing.signal;
  }

  /** Disposes `held` when the socket is closed or closing; cheaper than a signal. Holds one object at most. */
  hold(held: Disposable): void {
    this.#held = held;
    if (this.#isEnded) held[Symbol.dispose]();
  }

  /** Drops a client without input in that many checks. Part of a frame counts as input. */
  check(): void {
    const { bytesRead } = this.#connection;
    // Input may have come at the start of the interval, so the interval itself counts as one quiet check.
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

  /** Cuts the connection when the client does not even read the close frame. */
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
        // The client reads; on a slow line a pong comes long after the data sent before its ping.
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
