import { useEffect, useState } from "react";
import { sentenceOf } from "../settings/use-resource.ts";
import type { Paged } from "../lib/paged.ts";

export const one = "/api/automations/{automation_id}";
export const pageSize = 50;

const refreshMs = 4_000;

/**
 * Calls `read` at once, and again every few seconds while the page is visible, so that runs are seen to begin and to
 * end. The message of its last failure; null when there is none.
 */
export function useRefreshed(read: (signal: AbortSignal) => Promise<void>): string | null {
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    let isReading = false;
    const again = async (): Promise<void> => {
      if (isReading || document.hidden) return;
      isReading = true;
      try {
        await read(signal);
        if (!signal.aborted) setProblem(null);
      } catch (error) {
        if (!signal.aborted) setProblem(sentenceOf(error));
      }
      isReading = false;
    };
    void again();
    const timer = setInterval(() => void again(), refreshMs);
    document.addEventListener("visibilitychange", () => void again(), { signal });
    return () => {
      stop.abort();
      clearInterval(timer);
    };
  }, [read]);
  return problem;
}

/** The list with its first page as it is now, of items whose ids sort by creation, the newest first. */
export function withFirstPage<Item extends { readonly id: string }>(
  list: Paged<Item> | null,
  first: Paged<Item>,
): Paged<Item> {
  const last = first.items.at(-1)?.id;
  if (list === null || last === undefined || first.nextPageId === null) return first;
  const later = list.items.filter(({ id }) => id < last);
  return later.length === 0 ? first : { items: [...first.items, ...later], nextPageId: list.nextPageId };
}
