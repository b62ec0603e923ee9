import type { Event } from "@convoke/protocol";
import { ApiError } from "./api-error.ts";
import { backOff, type BackOffMs } from "./back-off.ts";
import { callApi, type HttpOptions } from "./http.ts";

export type FollowTarget = HttpOptions & {
  readonly conversationId: string;
  readonly WebSocket?: typeof WebSocket;
};

export type FollowOptions = {
  /** The last event you have: the stream goes on behind it. `null` starts at the beginning of the log. */
  readonly afterEventId?: string | null;
  readonly signal?: AbortSignal;
  /** Told about connections, so that a page can show "reconnecting" apart from what the agent does. */
  readonly onConnection?: (state: "connecting" | "connected" | "lost") => void;
  /** How long to wait before connecting again: at first, and at most after many failures in a row. */
  readonly backOffMs?: BackOffMs;
};

/** A stored event, or a frame that is stored nowhere (state snapshot, delta, socket error). */
export type FollowItem =
  | { readonly type: "event"; readonly event: Event; readonly json: string }
  | { readonly type: "signal"; readonly frame: Record<string, unknown> };

/** Close codes after which trying again cannot help. */
const finalCodes = new Map([
  [4001, [401, "The session API key was not accepted."]],
  [4004, [404, "Conversation not found."]],
  [4022, [422, "The event to go on from is not in this conversation."]],
] as const);

/**
 * Follows one conversation over as many connections as it takes. The cursor is the id of the last stored event that was
 * yielded; a reconnect resumes there, so a cut at any moment loses and repeats nothing (P1).
 */
export async function* followEvents(target: FollowTarget, options: FollowOptions): AsyncIterable<FollowItem> {
  let cursor = options.afterEventId === undefined ? await lastEventId(target) : options.afterEventId;
  const signal = options.signal ?? new AbortController().signal;
  for (let failures = 0; !signal.aborted;) {
    options.onConnection?.("connecting");
    const connection = new Connection(target, cursor, signal);
    let isConnected = false;
    try {
      for await (const json of connection.frames()) {
        if (!isConnected) options.onConnection?.("connected");
        isConnected = true;
        failures = 0;
        const item = toItem(json);
        yield item;
        if (item.type === "event") cursor = item.event.id!;
      }
    } finally {
      connection.close();
    }
    if (signal.aborted) return;
    const final = finalCodes.get(connection.closeCode as 4001 | 4004 | 4022);
    if (final !== undefined) throw new ApiError(final[0], final[1], null, []);
    options.onConnection?.("lost");
    await backOff(failures++, signal, options.backOffMs);
  }
}

function toItem(json: string): FollowItem {
  const frame = JSON.parse(json) as Record<string, unknown>;
  const isSignal =
    frame["kind"] === "StreamingDeltaEvent" ||
    frame["kind"] === "ServerErrorEvent" ||
    (frame["kind"] === "ConversationStateUpdateEvent" && frame["key"] === "full_state");
  return isSignal ? { type: "signal", frame } : { type: "event", event: frame as unknown as Event, json };
}

/** One socket from handshake to close. The key goes in the first frame, never into the address (P32). */
class Connection {
  closeCode = 0;
  readonly #socket: WebSocket;
  readonly #waiting: string[] = [];
  readonly #forgetSignal: () => void;
  #isOver = false;
  #wake: (() => void) | null = null;

  constructor(target: FollowTarget, cursor: string | null, signal: AbortSignal) {
    const Socket = target.WebSocket ?? WebSocket;
    this.#socket = new Socket(socketUrl(target, cursor));
    this.#socket.addEventListener("open", () => {
      if (target.apiKey !== undefined) {
        this.#socket.send(JSON.stringify({ type: "auth", session_api_key: target.apiKey }));
      }
    });
    this.#socket.addEventListener("message", (message: MessageEvent<unknown>) => {
      if (this.#isOver) return;
      this.#waiting.push(String(message.data));
      this.#wake?.();
      // A reader this far behind is served better by a new connection at its cursor than by a growing buffer.
      if (this.#waiting.length >= mostWaiting) this.close();
    });
    this.#socket.addEventListener("close", (event: CloseEvent) => this.#end(event.code));
    this.#socket.addEventListener("error", () => this.#end(1006));
    const onAbort = (): void => this.close();
    signal.addEventListener("abort", onAbort);
    // A follower outlives many connections; none of them may stay behind on its signal.
    this.#forgetSignal = () => signal.removeEventListener("abort", onAbort);
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
    this.#forgetSignal();
    this.#wake?.();
  }
}

const mostWaiting = 5000;

/** Where "from now on" begins, so that the first reconnect has a cursor too; null for an empty log. */
async function lastEventId(target: FollowTarget): Promise<string | null> {
  const page = await callApi<{ items: { id: string }[] }>(target, {
    method: "GET",
    path: `/api/conversations/${encodeURIComponent(target.conversationId)}/events/search`,
    query: { limit: 1, sort_order: "TIMESTAMP_DESC" },
  });
  return page.items[0]?.id ?? null;
}

function socketUrl(target: FollowTarget, cursor: string | null): string {
  const url = new URL(`${target.baseUrl.replace(/\/$/, "")}/sockets/events/${target.conversationId}`);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  if (cursor === null) url.searchParams.set("resend_mode", "all");
  else url.searchParams.set("after_event_id", cursor);
  return url.href;
}
