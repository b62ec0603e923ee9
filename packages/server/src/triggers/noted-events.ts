import type { Journal } from "../journal/journal.ts";
import { itemsOfPages } from "../lib/items-of-pages.ts";
import type { NotedEvent } from "./event-match.ts";
import { msOfUuid7 } from "../lib/uuid7.ts";

/** The kind of events that say how a conversation stands. */
export const statusKind = "ConversationStateUpdateEvent";

const pageSize = 100;

/** The events of these kinds since then, in the order of their times. */
export async function readNotedEvents(
  journal: Pick<Journal, "search">,
  conversationId: string,
  kinds: readonly string[],
  sinceMs: number,
): Promise<readonly NotedEvent[]> {
  const found: NotedEvent[] = [];
  for (const kind of kinds) {
    const query = { kind, timestampGteMicros: sinceMs * 1_000, order: "TIMESTAMP", limit: pageSize } as const;
    for await (const json of itemsOfPages((pageId) => journal.search(conversationId, { ...query, pageId })))
      found.push(toNotedEvent(json));
  }
  return found.toSorted((one, other) => (one.id < other.id ? -1 : 1));
}

function toNotedEvent(json: string): NotedEvent {
  const { id, kind, timestamp, key, value } = JSON.parse(json) as {
    readonly id: string;
    readonly kind: string;
    readonly timestamp: string;
    readonly key?: unknown;
    readonly value?: unknown;
  };
  const isStatus = kind === statusKind && key === "execution_status" && typeof value === "string";
  // In timestamps the zone is implied.
  const atMs = msOfUuid7(id);
  return { id, kind, timestamp, atMs, status: isStatus ? value : null };
}
