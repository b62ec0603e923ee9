import type { Event } from "@convoke/protocol";
import { ApiError } from "./api-error.ts";
import { backOff, type BackOffMs } from "./back-off.ts";
import { Connection, type SocketTarget } from "./connection.ts";
import { ConnectionError } from "./connection-error.ts";
import { callApi, type Call } from "./http.ts";

export type FollowOptions = {
  /** The last event you have: the stream goes on behind it. `null` starts at the beginning of the log. */
  readonly afterEventId?: string | null;
  readonly signal?: AbortSignal;
  /** Told about connections, so that a page can show "reconnecting" apart from what the agent does. */
  readonly onConnection?: (state: "connecting" | "connected" | "lost") => void;
  /** How long to wait before connecting again: at first, and at most after many failures in a row. */
  readonly backOffMs?: BackOffMs;
  /**
   * A connection from which nothing came for so long is replaced; 25,000 when not given. The next ones have twice as long each
   * until an event comes, up to eight times: an event that takes a slow line longer does come.
   */
  readonly deadAfterMs?: number;
};

/** A stored event, or a frame that is stored nowhere (state snapshot, delta, socket error). */
export type FollowItem =
  | { readonly type: "event"; readonly event: Event; readonly json: string }
  | { readonly type: "signal"; readonly frame: Record<string, unknown> };

const mostPatience = 8;

/** Close codes after which trying again cannot help. */
const finalCodes = new Map<number, readonly [status: number, message: string]>([
  [4001, [401, "The session API key was not accepted."]],
  [4004, [404, "Conversation not found."]],
  [4022, [422, "The event to go on from is not in this conversation."]],
]);

/**
 * Follows one conversation over as many connections as it takes. The cursor is the id of the last stored event that was
 * yielded; a reconnect resumes there, so a cut at any moment loses and repeats nothing (P1). Rejects with
 * {@link ApiError} when the server will never serve this stream.
 */
export async function* followEvents(target: SocketTarget, options: FollowOptions): AsyncIterable<FollowItem> {
  const { deadAfterMs = 25_000 } = options;
  const signal = options.signal ?? new AbortController().signal;
  let failures = 0;
  let patience = 1;
  const retryLater = async (): Promise<void> => {
    options.onConnection?.("lost");
    await backOff(failures++, signal, options.backOffMs);
  };
  let cursor = options.afterEventId;
  while (cursor === undefined && !signal.aborted) {
    options.onConnection?.("connecting");
    cursor = await lastEventId(target, signal);
    if (cursor === undefined) await retryLater();
  }
  while (cursor !== undefined && !signal.aborted) {
    options.onConnection?.("connecting");
    const connection = new Connection(target, cursor, signal, deadAfterMs * patience);
    let isConnected = false;
    try {
      for await (const json of connection.frames()) {
        if (!isConnected) options.onConnection?.("connected");
        isConnected = true;
        failures = 0;
        const item = toItem(json);
        if (item === null) continue;
        yield item;
        if (item.type !== "event") continue;
        cursor = item.event.id!;
        patience = 1;
      }
    } finally {
      connection.close();
    }
    if (signal.aborted) return;
    if (connection.wasSilent) patience = Math.min(patience * 2, mostPatience);
    const final = finalCodes.get(connection.closeCode);
    if (final !== undefined) throw new ApiError(final[0], final[1], null, []);
    // A refused handshake does not say why; the same conversation over HTTP does.
    if (!connection.wasOpen)
      await askAgain(target, { method: "GET", path: conversationPath(target), signal });
    await retryLater();
  }
}

/** Null for a heartbeat. */
function toItem(json: string): FollowItem | null {
  const frame = JSON.parse(json) as Record<string, unknown>;
  if (frame["kind"] === "Heartbeat") return null;
  const isSignal =
    frame["kind"] === "StreamingDeltaEvent" ||
    frame["kind"] === "ServerErrorEvent" ||
    (frame["kind"] === "ConversationStateUpdateEvent" && frame["key"] === "full_state");
  return isSignal ? { type: "signal", frame } : { type: "event", event: frame as unknown as Event, json };
}

/** Where "from now on" begins, so that the first reconnect has a cursor too; null for an empty log. */
async function lastEventId(target: SocketTarget, signal: AbortSignal): Promise<string | null | undefined> {
  const page = await askAgain<{ items: { id: string }[] }>(target, {
    method: "GET",
    path: `${conversationPath(target)}/events/search`,
    query: { limit: 1, sort_order: "TIMESTAMP_DESC" },
    signal,
  });
  return page === undefined ? undefined : (page.items[0]?.id ?? null);
}

/** Undefined when asking again later may help; rejects when it will not. */
async function askAgain<Reply>(target: SocketTarget, call: Call): Promise<Reply | undefined> {
  try {
    return await callApi<Reply>(target, call);
  } catch (error) {
    const isPassing =
      error instanceof ConnectionError ||
      (error instanceof ApiError && error.status >= 500) ||
      call.signal?.aborted;
    if (isPassing !== true) throw error;
    return undefined;
  }
}

function conversationPath(target: SocketTarget): string {
  return `/api/conversations/${encodeURIComponent(target.conversationId)}`;
}
