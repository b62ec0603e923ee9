import type { Socket } from "node:net";
import { describeError } from "../describe-error.ts";
import { encodeChunkHeader, encodeMessage, FrameReader } from "./frames.ts";
import type { Frame } from "./frames.ts";

/** The largest frame unless told otherwise: a tool's whole outcome must fit. */
export const defaultMaxFrameBytes = 64 * 1024 * 1024;
/** What fits before the other side has shown the key. */
const greetingBytes = 4 * 1024;
/** With more than this waiting to be sent, what can wait waits and what can be dropped is dropped. */
const roomBytes = 1024 * 1024;

export type ChannelDeps = {
  readonly socket: Socket;
  readonly maxFrameBytes: number;
  readonly onFrame: (frame: Frame) => void;
  /** Called once; `reason` is the other side's fault, or undefined when the connection just ended. */
  readonly onClose: (reason: string | undefined) => void;
  /** What `onFrame` threw, before the connection is cut for it. */
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
    // An error is always followed by `close`, and tells nothing that the other side could act on.
    socket.on("error", (error) => (this.#reason ??= error.message));
    socket.on("close", () => {
      this.#release();
      deps.onClose(this.#reason);
    });
  }

  get isOpen(): boolean {
    return this.#deps.socket.writable;
  }

  /** True while little waits to be sent. */
  get hasRoom(): boolean {
    return this.#deps.socket.writableLength < roomBytes;
  }

  /** How often in a row this was asked without anything heard in between. No time: whoever is held up itself hears late. */
  countSilence(): number {
    this.#silentChecks = this.#hasReceived ? 0 : this.#silentChecks + 1;
    this.#hasReceived = false;
    return this.#silentChecks;
  }

  /** The other side has shown the key: it may send whole frames. */
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

  /** Resolves when there is room again, or the connection is gone. */
  async untilRoom(): Promise<void> {
    while (this.isOpen && !this.hasRoom) {
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
  }

  /** Ends the connection; what was sent before still arrives. */
  end(): void {
    this.#deps.socket.end();
  }

  /** Cuts the connection at once. */
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
