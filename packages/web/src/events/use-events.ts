import { useCallback, useEffect, useState } from "react";
import { withPage } from "../lib/paged.ts";
import { useServices } from "../services/services.ts";
import type { EventChoice } from "./event-filter.tsx";
import { listedEvent, withNewest, type ListedPage } from "./listed-event.ts";

/** Events per page. */
const pageSize = 50;
/** Maximum length of texts: enough to name an event. */
const trimAt = 1_024;

type EventsQuery = {
  readonly conversationId: string;
  readonly choice: EventChoice;
  /** A change of this value reloads newer ones. */
  readonly version: string | null;
};

/** The events of a log, newest first; more are loaded on demand. */
export function useEvents({ conversationId, choice, version }: EventsQuery) {
  const { client } = useServices();
  const [page, setPage] = useState<ListedPage | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const read = useCallback(
    async (pageId: string | null, signal?: AbortSignal): Promise<void> => {
      const chosen = Object.fromEntries(Object.entries(choice).filter(([, value]) => value !== ""));
      try {
        const reply = await client.call("GET /api/conversations/{conversation_id}/events/search", {
          params: { conversation_id: conversationId },
          query: {
            limit: pageSize,
            sort_order: "TIMESTAMP_DESC",
            trim: trimAt,
            ...chosen,
            ...(pageId === null ? {} : { page_id: pageId }),
          },
          ...(signal === undefined ? {} : { signal }),
        });
        const next = { items: reply.items.map(listedEvent), nextPageId: reply.next_page_id ?? null };
        setPage((before) => (pageId === null ? withNewest(before, next) : withPage(before, pageId, next)));
        setProblem(null);
      } catch (error) {
        if (signal?.aborted === true) return;
        setProblem(error instanceof Error ? error.message : String(error));
      }
    },
    [client, conversationId, choice],
  );
  // Another filter starts a new list.
  useEffect(() => setPage(null), [read]);
  useEffect(() => {
    const stop = new AbortController();
    void read(null, stop.signal);
    return () => stop.abort();
  }, [read, version]);
  const nextPageId = page?.nextPageId ?? null;
  return { page, problem, more: nextPageId === null ? null : () => void read(nextPageId) };
}
