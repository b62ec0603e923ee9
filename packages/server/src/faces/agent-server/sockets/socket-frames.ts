import type { WebSocket } from "ws";

/** `text` is null for a binary frame. */
export type SocketFrame = { readonly text: string | null };

/** The maximum of unread frames and of their text; above it the client is paused. */
const maxWaiting = 100;
const maxWaitingLength = 1_000_000;

/** A socket's incoming frames in order. Listening starts at once, so nothing that arrives early is lost. */
export class SocketFrames {
  readonly #socket: WebSocket;
  readonly #waiting: SocketFrame[] = [];
  #waitingLength = 0;
  #isClosed = false;
  #wake: (() => void) | null = null;
  #receive: ((frame: SocketFrame) => Promise<void>) | null = null;
  #isGiving = false;
  #onDropped: ((frame: SocketFrame) => void) | null = null;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on("message", (data, isBinary) => {
      if (this.#isClosed) return;
      // By default the library delivers every frame as one Buffer.
      const text = isBinary ? null : (data as Buffer).toString("utf8");
      if (this.#onDropped !== null) {
        this.#onDropped({ text });
        return;
      }
      this.#waiting.push({ text });
      this.#waitingLength += text?.length ?? 0;
      if (this.#waiting.length >= maxWaiting || this.#waitingLength >= maxWaitingLength) socket.pause();
      this.#wake?.();
      if (this.#receive !== null) void this.#giveTo(this.#receive);
    });
    socket.on("close", () => {
      this.#isClosed = true;
      this.#wake?.();
    });
  }

  /** The next frame; null when the socket is closed, or when `deadlineMs` passes first. */
  async next(deadlineMs?: number): Promise<SocketFrame | null> {
    if (this.#waiting.length === 0 && !this.#isClosed) await this.#arrival(deadlineMs);
    const frame = this.#waiting.shift() ?? null;
    this.#waitingLength -= frame?.text?.length ?? 0;
    if (this.#waiting.length === 0 && !this.#isClosed && this.#socket.isPaused) this.#socket.resume();
    return frame;
  }

  /** Drops all frames from now on, also waiting ones: a client can still send until it answers the close. */
  end(): void {
    this.#isClosed = true;
    this.#waiting.length = 0;
    this.#waitingLength = 0;
    // The reply to the close comes after the unread frames, so they must be read.
    if (this.#socket.isPaused) this.#socket.resume();
    this.#wake?.();
  }

  /** From now on no frame is passed on, those that wait neither: each is given to `onDropped`. */
  drop(onDropped: (frame: SocketFrame) => void): void {
    this.#onDropped = onDropped;
    const waiting = this.#waiting.splice(0);
    this.#waitingLength = 0;
    if (this.#socket.isPaused) this.#socket.resume();
    for (const frame of waiting) onDropped(frame);
  }

  /**
   * Passes each frame to `receive`, one at a time; `receive` never rejects. An idle socket holds no pending promise
   * (B11).
   */
  each(receive: (frame: SocketFrame) => Promise<void>): void {
    this.#receive = receive;
    void this.#giveTo(receive);
  }

  /** Never rejects. */
  async #giveTo(receive: (frame: SocketFrame) => Promise<void>): Promise<void> {
    if (this.#isGiving) return;
    this.#isGiving = true;
    while (this.#waiting.length > 0) {
      const frame = await this.next();
      if (frame !== null) await receive(frame);
    }
    this.#isGiving = false;
  }

  async #arrival(deadlineMs: number | undefined): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = deadlineMs === undefined ? undefined : setTimeout(resolve, deadlineMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = null;
  }
}
