import type { Event } from "@convoke/protocol";
import type { SocketTarget } from "./connection.ts";
import { askAgain, frames, socketUrl, type StreamOptions } from "./stream.ts";
import { untrim, type Trimmed } from "./untrim.ts";

export type FollowOptions = StreamOptions & {
  /** Id of the last event you have; the stream continues after it. `null` starts at the beginning of the log. */
  readonly afterEventId?: string | null;
  /** `items`: each chunk of an answer carries the id of its item. */
  readonly deltas?: "items";
  /** Chunks of answers are sent in batches, at most one per this many milliseconds (20 to 1,000). */
  readonly beat?: number;
  /** Signals of kind `ToolProgress`: output of tools while they run. */
  readonly progress?: boolean;
  /** Signals of kind `Standing`: pending approvals and unread messages. Makes {@link ConversationView} exact. */
  readonly standing?: boolean;
  /** Texts of large events are cut to this many characters (1,024 to 65,536). */
  readonly trim?: number;
};

/** A stored event, or a signal that is not stored (state snapshot, delta, socket error). */
export type FollowItem =
  | { readonly type: "event"; readonly event: Event; readonly json: string; readonly trimmed: Trimmed }
  | { readonly type: "signal"; readonly frame: Record<string, unknown> };

/**
 * Follows one conversation, reconnecting as often as needed. The cursor is the id of the last stored event that was
 * yielded. A reconnect resumes there, so no event is lost or repeated (P1). Rejects with {@link ApiError} when the server
 * will never serve this stream.
 */
export async function* followEvents(
  target: SocketTarget,
  conversationId: string,
  options: FollowOptions,
): AsyncIterable<FollowItem> {
  const id = encodeURIComponent(conversationId);
  const conversation = `/api/conversations/${id}`;
  let cursor = options.afterEventId;
  let noteProgress = (): void => {};
  const stream = {
    target,
    options,
    probe: conversation,
    url: async (signal: AbortSignal) => {
      if (cursor === undefined) cursor = await lastEventId(target, conversation, signal);
      return cursor === undefined ? undefined : eventsUrl(target, id, cursor, options);
    },
  };
  for await (const json of frames(stream, (listener) => (noteProgress = listener))) {
    for (const item of toItems(json)) {
      yield item;
      if (item.type !== "event") continue;
      cursor = item.event.id!;
      noteProgress();
    }
  }
}

const signalKinds = new Set(["StreamingDeltaEvent", "ServerErrorEvent"]);

/** Nothing for a heartbeat. A frame without an id is a signal, not a stored event. */
function toItems(json: string): readonly FollowItem[] {
  const frame = JSON.parse(json) as Record<string, unknown>;
  const kind = String(frame["kind"]);
  if (kind === "Heartbeat") return [];
  if (kind === "Pieces")
    return (frame["frames"] as Record<string, unknown>[]).map((delta) => ({ type: "signal", frame: delta }));
  const isSignal =
    typeof frame["id"] !== "string" ||
    signalKinds.has(kind) ||
    (kind === "ConversationStateUpdateEvent" && frame["key"] === "full_state");
  return [
    isSignal ? { type: "signal", frame } : { type: "event", json, ...untrim(frame as unknown as Event) },
  ];
}

/** The current end of the log, so that the first reconnect has a cursor too; null for an empty log. */
async function lastEventId(
  target: SocketTarget,
  conversation: string,
  signal: AbortSignal,
): Promise<string | null | undefined> {
  const query = { limit: 1, sort_order: "TIMESTAMP_DESC" };
  const page = await askAgain<{ items: { id: string }[] }>(
    target,
    `${conversation}/events/search`,
    signal,
    query,
  );
  return page === undefined ? undefined : (page.items[0]?.id ?? null);
}

function eventsUrl(
  target: SocketTarget,
  id: string,
  cursor: string | null,
  { deltas, beat, progress, standing, trim }: FollowOptions,
): string {
  const begin = cursor === null ? { resend_mode: "all" } : { after_event_id: cursor };
  return socketUrl(target, `/sockets/events/${id}`, { ...begin, deltas, beat, progress, standing, trim });
}
