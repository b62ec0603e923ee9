import type { Turn } from "@convoke/protocol";
import { useCallback, useEffect, useState } from "react";
import { withPage, type Paged } from "../lib/paged.ts";
import { shownTime } from "../lib/shown-times.ts";
import { useServices } from "../services/services.ts";
import { Button } from "../ui/button.tsx";
import { SidePanel } from "../ui/side-panel.tsx";
import { Problem } from "../ui/problem.tsx";
import { useMoreWords } from "../words/words.ts";

type OutlinePanelProps = {
  readonly conversationId: string;
  /** A change reloads the outline. */
  readonly version: string | null;
  readonly onGo: (eventId: string) => void;
  readonly onClose: () => void;
};

/** The turns, newest first, each with the beginning of its message: a choice scrolls to it. */
export default function OutlinePanel({ conversationId, version, onGo, onClose }: OutlinePanelProps) {
  const words = useMoreWords().outline;
  const { language } = useServices();
  const { turns, problem, more } = useTurns(conversationId, version);
  return (
    <SidePanel conversationId={conversationId} title={words.title} width="w-80" onClose={onClose}>
      <div className="min-h-0 grow overflow-y-auto p-1.5">
        <Problem className="m-1.5" text={problem} />
        {turns?.length === 0 && <p className="p-1.5 text-faint">{words.none}</p>}
        <ul>
          {turns?.map((turn) => (
            <li key={turn.event_id}>
              <button
                type="button"
                onClick={() => onGo(turn.event_id)}
                className="block w-full rounded-md px-1.5 py-1.5 text-left hover:bg-hover pointer-coarse:min-h-11"
              >
                <span className="line-clamp-2 text-sm break-words">{turn.text}</span>
                <span className="flex gap-2 text-xs text-faint">
                  <time dateTime={turn.at}>{shownTime(turn.at, language, new Date())}</time>
                  {turn.actions > 0 && <span>{words.steps(turn.actions)}</span>}
                  {turn.failed + turn.errors > 0 && (
                    <span className="text-bad">{words.failed(turn.failed + turn.errors)}</span>
                  )}
                </span>
              </button>
            </li>
          ))}
        </ul>
        {more !== null && (
          <Button className="m-1.5" onClick={more}>
            {words.more}
          </Button>
        )}
      </div>
    </SidePanel>
  );
}

function useTurns(conversationId: string, version: string | null) {
  const { client } = useServices();
  const [list, setList] = useState<Paged<Turn> | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const read = useCallback(
    async (pageId: string | null, signal?: AbortSignal): Promise<void> => {
      try {
        const page = await client.call("GET /api/conversations/{conversation_id}/outline", {
          params: { conversation_id: conversationId },
          query: pageId === null ? {} : { page_id: pageId },
          ...(signal === undefined ? {} : { signal }),
        });
        const next = { items: page.items, nextPageId: page.next_page_id ?? null };
        setList((before) => (pageId === null ? next : withPage(before, pageId, next)));
        setProblem(null);
      } catch (error) {
        if (signal?.aborted === true) return;
        setProblem(error instanceof Error ? error.message : String(error));
      }
    },
    [client, conversationId],
  );
  useEffect(() => {
    const stop = new AbortController();
    void read(null, stop.signal);
    return () => stop.abort();
  }, [read, version]);
  const nextPageId = list?.nextPageId ?? null;
  return {
    turns: list?.items,
    problem,
    more: nextPageId === null ? null : () => void read(nextPageId),
  };
}
