import type { searchRoutes } from "@convoke/protocol";
import type { Handlers } from "../../../http/mount.ts";
import { searchEverything } from "../../../reading/search-everything.ts";
import { readKind, readName } from "./event-names.ts";
import { storedId } from "../../../lib/uuid7.ts";
import { readInstant } from "../../../http/read-instant.ts";
import type { FaceDeps } from "../../face-deps.ts";

/** The handlers of `searchRoutes`. */
export function searchHandlers({ journal }: FaceDeps) {
  return {
    searchEverything: async (request) => {
      const { q, kind, source, conversation_id: id, since, until, page_id: pageId, limit } = request.query;
      const json = await searchEverything(journal, request.caller, {
        q,
        limit: limit ?? 20,
        kind: typeof kind === "string" ? readKind(kind) : undefined,
        source: typeof source === "string" ? readName(source, "source") : undefined,
        conversationId: id ? storedId(id) : undefined,
        timestampGteMicros: since ? readInstant("since", since) : undefined,
        timestampLtMicros: until ? readInstant("until", until) : undefined,
        pageId: pageId || undefined,
      });
      return { json };
    },
  } satisfies Handlers<typeof searchRoutes>;
}
