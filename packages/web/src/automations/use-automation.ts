import type { Automation, AutomationRun } from "@convoke/protocol";
import { useCallback, useState } from "react";
import { withPage, type Paged } from "../lib/paged.ts";
import { useServices } from "../services/services.ts";
import { one, pageSize, useRefreshed, withFirstPage } from "./use-refreshed.ts";

export type AutomationHistory = {
  /** Null before the first response. */
  readonly automation: Automation | null;
  readonly dueTimes: readonly string[];
  readonly runs: Paged<AutomationRun> | null;
  readonly problem: string | null;
  readonly more: () => Promise<void>;
  readonly reload: () => Promise<void>;
};

const shownTimes = 5;

/** One automation with its next due times and its runs. */
export function useAutomation(id: string): AutomationHistory {
  const { client } = useServices();
  const [read, setRead] = useState<{ automation: Automation; dueTimes: readonly string[] } | null>(null);
  const [runs, setRuns] = useState<Paged<AutomationRun> | null>(null);
  const readPage = useCallback(
    async (pageId: string | null, signal?: AbortSignal): Promise<Paged<AutomationRun>> => {
      const { items, next_page_id: nextPageId } = await client.call(`GET ${one}/runs`, {
        params: { automation_id: id },
        query: { limit: pageSize, ...(pageId === null ? {} : { page_id: pageId }) },
        ...(signal && { signal }),
      });
      return { items, nextPageId };
    },
    [client, id],
  );
  const reload = useCallback(
    async (signal?: AbortSignal): Promise<void> => {
      const asked = { params: { automation_id: id }, ...(signal && { signal }) };
      const [automation, { due_times: dueTimes }, first] = await Promise.all([
        client.call(`GET ${one}`, asked),
        client.call(`GET ${one}/due_times`, { ...asked, query: { count: shownTimes } }),
        readPage(null, signal),
      ]);
      setRead({ automation, dueTimes });
      setRuns((before) => withFirstPage(before, first));
    },
    [client, id, readPage],
  );
  const problem = useRefreshed(reload);
  const more = async (): Promise<void> => {
    const pageId = runs?.nextPageId ?? null;
    if (pageId === null) return;
    const next = await readPage(pageId);
    setRuns((before) => withPage(before, pageId, next));
  };
  return {
    automation: read?.automation ?? null,
    dueTimes: read?.dueTimes ?? [],
    runs,
    problem,
    more,
    reload,
  };
}
