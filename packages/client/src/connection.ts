import type { HttpOptions } from "./http.ts";

export type SocketTarget = HttpOptions & {
  /** Replaces the global WebSocket. */
  readonly WebSocket?: typeof WebSocket;
};

/** Maximum of unread frames. Beyond it, reconnecting at the reader's cursor costs less than a growing buffer. */
const maxWaiting = 5000;

/** One socket from handshake to close. Key or proof go in the first frame, never into the address (P32). */
export class Connection {
  closeCode = 0;
  closeText = "";
  /** True once the handshake was accepted. */
  wasOpen = false;
  /** True when the connection was closed because no frame came in time. */
  wasSilent = false;
  /** True when the connection was closed because too many frames were unread. */
  wasBehind = false;
  readonly #socket: WebSocket;
  readonly #waiting: string[] = [];
  readonly #forgetSignal: () => void;
  readonly #watch: ReturnType<typeof setInterval>;
  #lastReceivedMs = performance.now();
  #isOver = false;
  #wake: (() => void) | null = null;

  /** Closes the connection when no frame, not even a heartbeat, came for `deadAfterMs` (P45). */
  constructor(target: SocketTarget, url: string, signal: AbortSignal, deadAfterMs: number) {
    const Socket = target.WebSocket ?? WebSocket;
    this.#socket = new Socket(url);
    this.#socket.addEventListener("open", () => {
      this.wasOpen = true;
      const { apiKey, proof } = target;
      if (apiKey === undefined && proof === undefined) return;
      const half = apiKey === undefined ? { proof } : { session_api_key: apiKey };
      this.#socket.send(JSON.stringify({ type: "auth", ...half }));
    });
    this.#socket.addEventListener("message", (message: MessageEvent<unknown>) => {
      this.#lastReceivedMs = performance.now();
      if (this.#isOver) return;
      this.#waiting.push(String(message.data));
      this.#wake?.();
      if (this.#waiting.length < maxWaiting) return;
      this.wasBehind = true;
      this.close();
    });
    this.#socket.addEventListener("close", (event: CloseEvent) => this.#end(event.code, event.reason));
    this.#socket.addEventListener("error", () => this.#end(1006));
    const onAbort = (): void => this.close();
    signal.addEventListener("abort", onAbort);
    // A follower outlives many connections; each removes its listener from the follower's signal.
    this.#forgetSignal = () => signal.removeEventListener("abort", onAbort);
    this.#watch = setInterval(() => this.endIfSilent(deadAfterMs), deadAfterMs / 10);
  }

  /** Closes the connection when no frame came for `ms`. */
  endIfSilent(ms: number): void {
    if (this.#isOver || performance.now() - this.#lastReceivedMs <= ms) return;
    this.wasSilent = true;
    this.close();
  }

  /** Yields frames in order until the socket closes, including those that arrived before it closed. */
  async *frames(): AsyncIterable<string> {
    for (;;) {
      const next = this.#waiting.shift();
      if (next !== undefined) {
        yield next;
        continue;
      }
      if (this.#isOver) return;
      await new Promise<void>((resolve) => (this.#wake = resolve));
      this.#wake = null;
    }
  }

  /** No effect on a closed connection. */
  send(json: string): void {
    if (!this.#isOver) this.#socket.send(json);
  }

  close(): void {
    this.#end(1000);
    this.#socket.close();
  }

  #end(code: number, text = ""): void {
    if (!this.#isOver) {
      this.closeCode = code;
      this.closeText = text;
    }
    this.#isOver = true;
    clearInterval(this.#watch);
    this.#forgetSignal();
    this.#wake?.();
  }
}
