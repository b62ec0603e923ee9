import type { Socket } from "node:net";
import { describeError } from "../describe-error.ts";
import { encodeChunkHeader, encodeMessage, FrameReader } from "./frames.ts";
import type { Frame } from "./frames.ts";

/** Default maximum size of a frame: a tool's whole outcome must fit. */
export const defaultMaxFrameBytes = 64 * 1024 * 1024;
/** Maximum size before the other side has proved that it has the key. */
const greetingBytes = 4 * 1024;
/** Above this many unsent bytes, senders wait and droppable messages are dropped. */
const roomBytes = 1024 * 1024;

export type ChannelDeps = {
  readonly socket: Socket;
  readonly maxFrameBytes: number;
  readonly onFrame: (frame: Frame) => void;
  /** Called once. `reason` is the other side's fault, or undefined when the connection just ended. */
  readonly onClose: (reason: string | undefined) => void;
  /** Called with what `onFrame` threw, before the connection is closed because of it. */
  readonly onFault?: (error: unknown) => void;
};

/** Frames over one socket. */
export class Channel {
  readonly #deps: ChannelDeps;
  readonly #reader = new FrameReader(greetingBytes);
  readonly #waiting = new Set<() => void>();
  #reason: string | undefined;
  #hasReceived = true;
  #silentChecks = 0;

  constructor(deps: ChannelDeps) {
    this.#deps = deps;
    const { socket } = deps;
    socket.setNoDelay(true);
    socket.on("data", (bytes: Buffer) => this.#read(bytes));
    socket.on("drain", () => this.#release());
    // An error is always followed by `close`, and contains nothing that the other side could act on.
    socket.on("error", (error) => (this.#reason ??= error.message));
    socket.on("close", () => {
      this.#release();
      deps.onClose(this.#reason);
    });
  }

  get isOpen(): boolean {
    return this.#deps.socket.writable;
  }

  /** True while few bytes wait to be sent. */
  get hasRoom(): boolean {
    return this.#deps.socket.writableLength < roomBytes;
  }

  /** How many consecutive checks found no new frame. Counted in checks and not in time, because a stalled event loop receives late. */
  countSilence(): number {
    this.#silentChecks = this.#hasReceived ? 0 : this.#silentChecks + 1;
    this.#hasReceived = false;
    return this.#silentChecks;
  }

  /** The other side has proved that it has the key: it may send full-size frames. */
  trust(): void {
    this.#reader.maxFrameBytes = this.#deps.maxFrameBytes;
  }

  /** Sends a message, or drops it when the connection is gone; throws FrameTooLargeError before anything is sent. */
  send(message: object): void {
    const frame = encodeMessage(message, this.#deps.maxFrameBytes);
    if (this.isOpen) this.#deps.socket.write(frame);
  }

  sendChunk(id: number, bytes: Uint8Array): void {
    if (!this.isOpen) return;
    const { socket } = this.#deps;
    socket.cork();
    socket.write(encodeChunkHeader(id, bytes.length));
    socket.write(bytes);
    socket.uncork();
  }

  /** Resolves when few bytes wait to be sent, or the connection is closed. */
  async untilRoom(): Promise<void> {
    while (this.isOpen && !this.hasRoom) {
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
  }

  /** Ends the connection after sending what is buffered. */
  end(): void {
    this.#deps.socket.end();
  }

  /** Closes the connection immediately. */
  destroy(reason?: string): void {
    this.#reason ??= reason;
    this.#deps.socket.destroy();
  }

  #read(bytes: Buffer): void {
    this.#hasReceived = true;
    try {
      for (const frame of this.#reader.push(bytes)) {
        if (this.#deps.socket.destroyed) return;
        this.#deps.onFrame(frame);
      }
    } catch (error) {
      this.#deps.onFault?.(error);
      this.destroy(describeError(error));
    }
  }

  #release(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}
