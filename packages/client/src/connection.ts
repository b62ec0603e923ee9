import type { HttpOptions } from "./http.ts";

export type SocketTarget = HttpOptions & {
  readonly conversationId: string;
  readonly WebSocket?: typeof WebSocket;
};

/** More unread frames than this: a new connection at the reader's cursor serves it better than a growing buffer. */
const mostWaiting = 5000;

/** One socket from handshake to close. The key goes in the first frame, never into the address (P32). */
export class Connection {
  closeCode = 0;
  /** True once the handshake was accepted. */
  wasOpen = false;
  /** True when it was given up because nothing came. */
  wasSilent = false;
  readonly #socket: WebSocket;
  readonly #waiting: string[] = [];
  readonly #forgetSignal: () => void;
  readonly #watch: ReturnType<typeof setInterval>;
  #lastHeardMs = performance.now();
  #isOver = false;
  #wake: (() => void) | null = null;

  /** Gives the connection up when nothing, not even a heartbeat, came for `deadAfterMs` (P45). */
  constructor(target: SocketTarget, cursor: string | null, signal: AbortSignal, deadAfterMs: number) {
    const Socket = target.WebSocket ?? WebSocket;
    this.#socket = new Socket(socketUrl(target, cursor));
    this.#socket.addEventListener("open", () => {
      this.wasOpen = true;
      if (target.apiKey === undefined) return;
      this.#socket.send(JSON.stringify({ type: "auth", session_api_key: target.apiKey }));
    });
    this.#socket.addEventListener("message", (message: MessageEvent<unknown>) => {
      this.#lastHeardMs = performance.now();
      if (this.#isOver) return;
      this.#waiting.push(String(message.data));
      this.#wake?.();
      if (this.#waiting.length >= mostWaiting) this.close();
    });
    this.#socket.addEventListener("close", (event: CloseEvent) => this.#end(event.code));
    this.#socket.addEventListener("error", () => this.#end(1006));
    const onAbort = (): void => this.close();
    signal.addEventListener("abort", onAbort);
    // A follower outlives many connections; none of them may stay behind on its signal.
    this.#forgetSignal = () => signal.removeEventListener("abort", onAbort);
    this.#watch = setInterval(() => {
      if (performance.now() - this.#lastHeardMs <= deadAfterMs) return;
      this.wasSilent = true;
      this.close();
    }, deadAfterMs / 10);
  }

  /** Frames in order until the socket closes; what had arrived before that is still given. */
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

  close(): void {
    this.#end(1000);
    this.#socket.close();
  }

  #end(code: number): void {
    if (!this.#isOver) this.closeCode = code;
    this.#isOver = true;
    clearInterval(this.#watch);
    this.#forgetSignal();
    this.#wake?.();
  }
}

function socketUrl(target: SocketTarget, cursor: string | null): string {
  const path = `/sockets/events/${encodeURIComponent(target.conversationId)}`;
  const url = new URL(`${target.baseUrl.replace(/\/$/, "")}${path}`);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  url.searchParams.set("heartbeat", "true");
  if (cursor === null) url.searchParams.set("resend_mode", "all");
  else url.searchParams.set("after_event_id", cursor);
  return url.href;
}
