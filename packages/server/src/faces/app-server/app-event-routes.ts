import type { EventSortOrder } from "@convoke/protocol";
import type { Directory } from "../../directory/directory.ts";
import { conversationMissing } from "../../engine/refusals.ts";
import type { RouteHandler, RouteRequest } from "../../http/mount.ts";
import type { EventFilter, Journal } from "../../journal/journal.ts";
import { normalizeUuid } from "../../lib/uuid7.ts";
import { readKind } from "../agent-server/events/event-names.ts";
import { readEventsById } from "../agent-server/events/events-by-id.ts";
import { readInstantOf } from "../../http/read-instant.ts";

export type AppEventRouteDeps = { readonly journal: Journal; readonly directory: Directory };

type Query = {
  conversation_id__eq?: string;
  kind__eq?: string | null;
  timestamp__gte?: string | null;
  timestamp__lt?: string | null;
  sort_order?: EventSortOrder;
  page_id?: string | null;
  limit?: number;
  id?: readonly string[];
};

/** The log of a conversation: stored texts are joined, never parsed. */
export function appEventHandlers({ journal, directory }: AppEventRouteDeps) {
  async function known({ caller, params, query }: RouteRequest): Promise<string> {
    const given = params["conversation_id"] ?? (query as Query).conversation_id__eq ?? "";
    const id = normalizeUuid(given);
    if (id === null || !(await directory.exists(caller, id))) throw conversationMissing(given);
    return id;
  }

  const search: RouteHandler = async (request) => {
    const { page_id: pageId, limit, sort_order: order } = request.query as Query;
    const page = await journal.search(await known(request), {
      ...readFilter(request.query),
      order: order ?? "TIMESTAMP",
      limit: limit ?? 100,
      pageId: pageId === null || pageId === undefined ? undefined : (normalizeUuid(pageId) ?? pageId),
    });
    return { text: `{"items":[${page.items.join(",")}],"next_page_id":${JSON.stringify(page.nextPageId)}}` };
  };

  const count: RouteHandler = async (request) => ({
    json: await journal.count(await known(request), readFilter(request.query)),
  });

  const batch: RouteHandler = async (request) => {
    const { id: ids = [] } = request.query as Query;
    const stored = ids.map((id) => normalizeUuid(id) ?? id);
    return { text: await readEventsById(journal, await known(request), stored) };
  };

  return {
    searchAppEvents: search,
    countAppEvents: count,
    getAppEvents: batch,
    searchEventsOfConversation: search,
    countEventsOfConversation: count,
    getEventsOfConversation: batch,
  } satisfies Record<string, RouteHandler>;
}

function readFilter(query: Query): EventFilter {
  const from = readInstantOf(query, "timestamp__gte");
  const before = readInstantOf(query, "timestamp__lt");
  return {
    kind: typeof query.kind__eq === "string" ? readKind(query.kind__eq, "kind__eq") : undefined,
    timestampGteMicros: from ?? undefined,
    timestampLtMicros: before ?? undefined,
  };
}
