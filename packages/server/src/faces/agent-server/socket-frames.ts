import type { WebSocket } from "ws";

/** `text` is null for a binary frame. */
export type SocketFrame = { readonly text: string | null };

/** So many unread frames may wait; then the client is made to wait. */
const mostWaiting = 100;

/** A socket's incoming frames in order. Listening starts at once, so nothing that arrives early is lost. */
export class SocketFrames {
  readonly #socket: WebSocket;
  readonly #waiting: SocketFrame[] = [];
  #isClosed = false;
  #wake: (() => void) | null = null;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on("message", (data, isBinary) => {
      // The library delivers every frame as one Buffer unless told otherwise.
      this.#waiting.push({ text: isBinary ? null : (data as Buffer).toString("utf8") });
      if (this.#waiting.length >= mostWaiting) socket.pause();
      this.#wake?.();
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
    if (this.#waiting.length === 0 && !this.#isClosed && this.#socket.isPaused) this.#socket.resume();
    return frame;
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
