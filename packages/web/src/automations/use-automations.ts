import type { Automation } from "@convoke/protocol";
import { useCallback, useState } from "react";
import { withPage, type Paged } from "../lib/paged.ts";
import { useServices } from "../services/services.ts";
import { pageSize, useRefreshed, withFirstPage } from "./use-refreshed.ts";

export type AutomationList = {
  /** Null before the first response. */
  readonly list: Paged<Automation> | null;
  readonly problem: string | null;
  readonly more: () => Promise<void>;
  readonly reload: () => Promise<void>;
};

/** The caller's automations, the newest first. Further pages are read on request. */
export function useAutomations(): AutomationList {
  const { client } = useServices();
  const [list, setList] = useState<Paged<Automation> | null>(null);
  const readPage = useCallback(
    async (pageId: string | null, signal?: AbortSignal): Promise<Paged<Automation>> => {
      const { items, next_page_id: nextPageId } = await client.call("GET /api/automations", {
        query: { limit: pageSize, ...(pageId === null ? {} : { page_id: pageId }) },
        ...(signal && { signal }),
      });
      return { items, nextPageId };
    },
    [client],
  );
  const reload = useCallback(
    async (signal?: AbortSignal): Promise<void> => {
      const first = await readPage(null, signal);
      setList((before) => withFirstPage(before, first));
    },
    [readPage],
  );
  const problem = useRefreshed(reload);
  const more = async (): Promise<void> => {
    const pageId = list?.nextPageId ?? null;
    if (pageId === null) return;
    const next = await readPage(pageId);
    setList((before) => withPage(before, pageId, next));
  };
  return { list, problem, more, reload };
}
