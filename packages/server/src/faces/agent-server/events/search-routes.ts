import { searchEverything } from "../../../reading/search-everything.ts";
import type { RouteHandler } from "../../../http/mount.ts";
import type { Journal } from "../../../journal/journal.ts";
import { readKind, readName } from "./event-names.ts";
import { normalizeUuid } from "../../../lib/uuid7.ts";
import { readInstant } from "../../../http/read-instant.ts";

export type SearchRouteDeps = {
  readonly journal: Pick<Journal, "getConversations" | "searchSummaries" | "searchTexts">;
};

type Query = {
  readonly q: string;
  readonly kind?: string | null;
  readonly source?: string | null;
  readonly conversation_id?: string | null;
  readonly since?: string | null;
  readonly until?: string | null;
  readonly page_id?: string | null;
  readonly limit?: number;
};

/** The handlers of `searchRoutes`. */
export function searchHandlers({ journal }: SearchRouteDeps) {
  return {
    searchEverything: async (request) => {
      const {
        q,
        kind,
        source,
        conversation_id: id,
        since,
        until,
        page_id: pageId,
        limit,
      } = request.query as Query;
      const json = await searchEverything(journal, request.caller, {
        q,
        limit: limit ?? 20,
        kind: typeof kind === "string" ? readKind(kind) : undefined,
        source: typeof source === "string" ? readName(source, "source") : undefined,
        conversationId: id ? (normalizeUuid(id) ?? id) : undefined,
        timestampGteMicros: since ? readInstant("since", since) : undefined,
        timestampLtMicros: until ? readInstant("until", until) : undefined,
        pageId: pageId || undefined,
      });
      return { json };
    },
  } satisfies Record<string, RouteHandler>;
}
