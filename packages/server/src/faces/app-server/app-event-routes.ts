import type { appEventRoutes } from "@convoke/protocol";
import { conversationMissing } from "../../engine/refusals.ts";
import type { RouteRequest, Handlers, RequestOf, RouteReply } from "../../http/mount.ts";
import type { EventFilter } from "../../journal/journal.ts";
import { normalizeUuid, storedId } from "../../lib/uuid7.ts";
import { readKind } from "../agent-server/events/event-names.ts";
import { readEventsById } from "../agent-server/events/events-by-id.ts";
import { readInstantOf } from "../../http/read-instant.ts";
import type { FaceDeps } from "../face-deps.ts";

/** The conversation is named in the path or in the query. */
type Asked<Operation extends keyof typeof appEventRoutes> = RouteRequest &
  Pick<RequestOf<(typeof appEventRoutes)[Operation]>, "query">;
type Count = Asked<"countAppEvents">;

/** The log of a conversation: stored texts are joined, never parsed. */
export function appEventHandlers({ journal, directory }: FaceDeps) {
  async function known({ caller, params, query }: RouteRequest): Promise<string> {
    const given = params["conversation_id"] ?? String(query["conversation_id__eq"]);
    const id = normalizeUuid(given);
    if (id === null || !(await directory.exists(caller, id))) throw conversationMissing(given);
    return id;
  }

  const search = async (request: Asked<"searchAppEvents">): Promise<RouteReply> => {
    const { page_id: pageId, limit, sort_order: order } = request.query;
    const page = await journal.search(await known(request), {
      ...readFilter(request.query),
      order: order ?? "TIMESTAMP",
      limit: limit ?? 100,
      pageId: pageId === null || pageId === undefined ? undefined : storedId(pageId),
    });
    return { text: `{"items":[${page.items.join(",")}],"next_page_id":${JSON.stringify(page.nextPageId)}}` };
  };

  const count = async (request: Count): Promise<RouteReply> => ({
    json: await journal.count(await known(request), readFilter(request.query)),
  });

  const batch = async (request: Asked<"getAppEvents">): Promise<RouteReply> => {
    const { id: ids } = request.query;
    const stored = ids.map(storedId);
    return { text: await readEventsById(journal, await known(request), stored) };
  };

  return {
    searchAppEvents: search,
    countAppEvents: count,
    getAppEvents: batch,
    searchEventsOfConversation: search,
    countEventsOfConversation: count,
    getEventsOfConversation: batch,
  } satisfies Handlers<typeof appEventRoutes>;
}

function readFilter(query: Count["query"]): EventFilter {
  const from = readInstantOf(query, "timestamp__gte");
  const before = readInstantOf(query, "timestamp__lt");
  return {
    kind: typeof query.kind__eq === "string" ? readKind(query.kind__eq, "kind__eq") : undefined,
    timestampGteMicros: from ?? undefined,
    timestampLtMicros: before ?? undefined,
  };
}
