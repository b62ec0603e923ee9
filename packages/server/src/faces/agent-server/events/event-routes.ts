import type { agentServerRoutes } from "@convoke/protocol";
import { conversationMissing } from "../../../engine/refusals.ts";
import { conversationIdOf, openAsked, findAsked, onAsked } from "../../../http/asked-conversation.ts";
import type { RouteReply, RouteRequest, Handlers, RequestOf } from "../../../http/mount.ts";
import type { Again } from "../../../http/ready-answers.ts";
import { etagOf, settledReply, taggedReply } from "../../../http/settled-reply.ts";
import { DamagedEventError, type EventFilter } from "../../../journal/journal.ts";
import { damagedMark, isWhole } from "../../../journal/shown-event.ts";
import type { CachedPage } from "../../../events/page-cache.ts";
import { Fault, invalidField } from "../../../lib/fault.ts";
import { readKind, readName } from "./event-names.ts";
import { readEventsById } from "./events-by-id.ts";
import { readResponseSchema } from "./read-response-schema.ts";
import { toUserMessage } from "./user-message.ts";
import { isBeyondShare, toSharedEvent } from "../../../reading/shared-view.ts";
import { readInstantOf } from "../../../http/read-instant.ts";
import type { FaceDeps } from "../../face-deps.ts";

/** The routes below `/api/conversations/{conversation_id}/events`. Source: contract 4.1. */
export function eventHandlers({ journal, directory, trimmed, pages }: FaceDeps) {
  async function readPage(id: string, request: SearchRequest): Promise<{ text: string; isSettled: boolean }> {
    const { page_id: pageId, limit, sort_order: order } = request.query;
    const page = await journal.search(id, {
      ...filterOf(request),
      order: order ?? "TIMESTAMP",
      limit: limit ?? 100,
      pageId: pageId ?? undefined,
    });
    const items = page.items.map((json) => shown(request, json));
    return {
      text: `{"items":[${items.join(",")}],"next_page_id":${JSON.stringify(page.nextPageId)}}`,
      // Later events are on the next page, if there is one; with the newest page first, on the page above it.
      isSettled: page.nextPageId !== null && (order !== "TIMESTAMP_DESC" || Boolean(pageId)),
    };
  }

  /** An event as the caller may see it. */
  function shown({ caller, query }: Trimmed, json: string): string {
    const { share } = caller;
    return trimmed.shown(share === undefined ? json : toSharedEvent(json, share), query.trim ?? null);
  }

  /** Answers repeated requests for a page from the cache, when the store knows the log's end at once. */
  function againOf(id: string, key: string, found: ReturnType<typeof directory.head>): Again | undefined {
    if (found instanceof Promise) return undefined;
    return (caller) => {
      const head = directory.head(caller, id);
      return head === null || head instanceof Promise ? null : (pages.get(key, head)?.bytes ?? null);
    };
  }

  return {
    searchEvents: async (request) => {
      const id = conversationIdOf(request);
      const finding = directory.head(request.caller, id);
      const head = finding instanceof Promise ? await finding : finding;
      if (head === null) throw conversationMissing(id);
      // Pages in the cache are those of the owner.
      if (request.caller.share !== undefined) {
        const { text } = await readPage(id, request);
        return { text };
      }
      const key = `${id} ${JSON.stringify(request.query)}`;
      const cached = pages.get(key, head);
      if (cached !== undefined) return pageReply(request, cached, againOf(id, key, finding));
      const { text, isSettled } = await readPage(id, request);
      const bytes = Buffer.from(text);
      const page = { bytes, etag: isSettled ? etagOf(bytes) : null };
      // Failures are not cached.
      if (!text.includes(damagedMark)) pages.keep(key, head, page);
      return pageReply(request, page, againOf(id, key, finding));
    },

    countEvents: async (request) => ({
      json: await journal.count(await findAsked(directory, request), filterOf(request)),
    }),

    getEvent: async (request) => {
      const id = await findAsked(directory, request);
      const [event] = await journal.getEvents(id, [request.params.event_id.toLowerCase()]);
      if (!event || isBeyondShare(request.caller, event.seq))
        throw new Fault("missing", "event_not_found", `Event not found: ${request.params.event_id}`);
      if (!isWhole(event.json)) throw new DamagedEventError(id, event.seq);
      return settledReply(request, shown(request, event.json));
    },

    getEvents: async (request) => {
      const id = await findAsked(directory, request);
      const ids = request.body ?? request.query.ids;
      if (ids === undefined) throw invalidField(["body"], "Send the event ids as a JSON list.", "missing");
      const stored = ids.map((eventId) => eventId.toLowerCase());
      const text = await readEventsById(journal, id, stored, ({ seq }, json) =>
        isBeyondShare(request.caller, seq) ? "null" : shown(request, json),
      );
      return { text };
    },

    sendMessage: async (request) => {
      const conversation = await openAsked(directory, request);
      const body = request.body;
      const clientMessageId = body.client_message_id ?? idempotencyKey(request);
      const { eventId } = await conversation.send({
        message: toUserMessage(body, ["body"]),
        wantsRun: body.run ?? false,
        sender: typeof body.sender === "string" ? body.sender : undefined,
        responseSchema: readResponseSchema(body.response_schema, ["body"]),
        whileRunning: body.while_running ?? null,
        clientMessageId,
      });
      return { json: { success: true }, headers: { "x-convoke-event-id": eventId } };
    },

    respondToConfirmation: onAsked(directory, (conversation, { body: { accept, reason } }) =>
      accept ? conversation.accept() : conversation.reject(reason ?? "User rejected the action."),
    ),
  } satisfies Partial<Handlers<typeof agentServerRoutes>>;
}

type SearchRequest = RequestOf<(typeof agentServerRoutes)["searchEvents"]>;
type CountRequest = RequestOf<(typeof agentServerRoutes)["countEvents"]>;
type Trimmed = Pick<RequestOf<(typeof agentServerRoutes)["getEvent"]>, "caller" | "query">;

function pageReply(request: RouteRequest, { bytes, etag }: CachedPage, again: Again | undefined): RouteReply {
  const reply = { bytes, contentType: "application/json", again };
  return etag === null ? reply : taggedReply(request, etag, reply);
}

/** The header that replaces `client_message_id` for clients that cannot set fields. */
function idempotencyKey({ headers }: RouteRequest): string | undefined {
  const key = headers["idempotency-key"];
  if (typeof key !== "string" || key === "") return undefined;
  if (key.length <= 200) return key;
  throw invalidField(["header", "Idempotency-Key"], "Send at most 200 characters.", "string_too_long");
}

/** The filter of a request, which for a share link ends with its last event. */
function filterOf({ query, caller }: CountRequest): EventFilter {
  const filter = readFilter(query);
  const end = caller.share?.upTo?.micros;
  if (end === undefined) return filter;
  return { ...filter, timestampLtMicros: Math.min(filter.timestampLtMicros ?? Infinity, end + 1) };
}

function readFilter(query: CountRequest["query"]): EventFilter {
  const { kind, source, body } = query;
  return {
    kind: typeof kind === "string" ? readKind(kind) : undefined,
    source: typeof source === "string" ? readName(source, "source") : undefined,
    ...(typeof body === "string" ? { body } : {}),
    timestampGteMicros: readInstantOf(query, "timestamp__gte") ?? undefined,
    timestampLtMicros: readInstantOf(query, "timestamp__lt") ?? undefined,
  };
}
