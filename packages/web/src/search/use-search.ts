import type { SearchHit, TitleHit } from "@convoke/protocol";
import { useCallback, useEffect, useRef, useState } from "react";
import { useServices } from "../services/services.ts";
import { filterOf, type SearchQuery } from "./search-query.ts";

export type Results = {
  readonly titles: readonly TitleHit[];
  readonly hits: readonly SearchHit[];
  readonly nextPageId: string | null;
  /** Null if the index is complete; else the share of indexed conversations. */
  readonly progress: number | null;
};

export type SearchState = {
  /** Null before the first response. */
  readonly results: Results | null;
  readonly problem: string | null;
  readonly isBusy: boolean;
  readonly more: () => void;
};

/** Milliseconds without typing before the search starts. */
const pauseMs = 200;
/** Pages may be short: pages loaded before the user has to ask for more. */
const maxPages = 8;
const fewHits = 10;
/** Milliseconds until the search is repeated while the index is incomplete. */
const againMs = 3_000;

/** Search results while the user types; the old ones stay until the next response. */
export function useSearch(query: SearchQuery): SearchState {
  const { client } = useServices();
  const [results, setResults] = useState<Results | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const stop = useRef<AbortController | null>(null);
  const { q, what, days } = query;

  const read = useCallback(
    async (before: Results | null): Promise<void> => {
      stop.current?.abort();
      const own = new AbortController();
      stop.current = own;
      setBusy(true);
      try {
        let found = before;
        for (let page = 0; page < maxPages; page += 1) {
          const reply = await client.call("GET /api/search", {
            query: {
              ...filterOf({ q, what, days }, Date.now()),
              ...(found?.nextPageId == null ? {} : { page_id: found.nextPageId }),
            },
            signal: own.signal,
          });
          found = {
            titles: found?.titles ?? reply.titles,
            hits: [...(found?.hits ?? []), ...reply.items],
            nextPageId: reply.next_page_id ?? null,
            progress: reply.is_complete ? null : reply.progress,
          };
          const isEnough = found.hits.length - (before?.hits.length ?? 0) >= fewHits;
          if (own.signal.aborted || isEnough || found.nextPageId === null) break;
        }
        if (own.signal.aborted) return;
        setResults(found);
        setProblem(null);
      } catch (error) {
        if (own.signal.aborted) return;
        setProblem(error instanceof Error ? error.message : String(error));
      }
      setBusy(false);
    },
    [client, q, what, days],
  );

  useEffect(() => {
    if (q.trim() === "") {
      setResults(null);
      setProblem(null);
      return;
    }
    const timer = setTimeout(() => void read(null), pauseMs);
    return () => {
      clearTimeout(timer);
      stop.current?.abort();
    };
  }, [q, read]);
  const isFirstPage = results !== null && results.hits.length <= fewHits * 2;
  const isUnread = results?.progress != null;
  useEffect(() => {
    if (!isUnread || !isFirstPage) return;
    const timer = setTimeout(() => void read(null), againMs);
    return () => clearTimeout(timer);
  }, [isUnread, isFirstPage, results, read]);

  return { results, problem, isBusy, more: () => void read(results) };
}
