import { WebSocket, type ClientOptions } from "ws";

export type SocketClosing = { readonly code: number; readonly reason: string };

/** A raw client of an event socket that records every frame; a refused handshake is reported by its HTTP status. */
export class TestSocket implements Disposable {
  readonly frames: string[] = [];
  readonly socket: WebSocket;
  /** Resolves with `open`, or with the status of the refusal. */
  readonly opened: Promise<"open" | number>;
  readonly closed: Promise<SocketClosing>;
  readonly #arrivals = new Set<() => void>();

  constructor(url: string, options: ClientOptions = {}) {
    this.socket = new WebSocket(url.replace(/^http/, "ws"), options);
    this.opened = new Promise((resolve, reject) => {
      this.socket.once("open", () => resolve("open"));
      this.socket.once("unexpected-response", (request, response) => {
        request.destroy();
        resolve(response.statusCode ?? 0);
      });
      this.socket.once("error", reject);
    });
    // A test that only reads `closed` or frames must not fail by an unhandled refusal.
    this.opened.catch(() => {});
    this.closed = new Promise((resolve) => {
      this.socket.once("close", (code, reason) => resolve({ code, reason: reason.toString() }));
    });
    this.socket.on("message", (data: Buffer) => {
      this.frames.push(data.toString("utf8"));
      for (const onArrival of this.#arrivals) onArrival();
    });
  }

  get events(): Record<string, unknown>[] {
    return this.frames.map((frame) => JSON.parse(frame) as Record<string, unknown>);
  }

  send(frame: unknown): void {
    this.socket.send(typeof frame === "string" || Buffer.isBuffer(frame) ? frame : JSON.stringify(frame));
  }

  /** Resolves when the frames so far satisfy `isEnough`; rejects after `timeoutMs`. */
  async until(isEnough: (events: Record<string, unknown>[]) => boolean, timeoutMs = 60_000): Promise<void> {
    await this.#untilTrue(() => isEnough(this.events), timeoutMs);
  }

  /** Without parsing the frames, which may be large. */
  async untilCount(count: number, timeoutMs = 60_000): Promise<void> {
    await this.#untilTrue(() => this.frames.length >= count, timeoutMs);
  }

  [Symbol.dispose](): void {
    this.socket.terminate();
  }

  async #untilTrue(isEnough: () => boolean, timeoutMs: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#arrivals.delete(checkFrames);
        const kinds = this.events.map(({ kind, key }) => JSON.stringify([kind, key]));
        reject(new Error(`The frames did not come. So far: ${kinds.join(", ")}`));
      }, timeoutMs);
      const checkFrames = (): void => {
        if (!isEnough()) return;
        clearTimeout(timer);
        this.#arrivals.delete(checkFrames);
        resolve();
      };
      this.#arrivals.add(checkFrames);
      checkFrames();
    });
  }
}
