import type { TrashedConversation } from "@convoke/protocol";
import { useCallback, useEffect, useState } from "react";
import { withPage, type Paged } from "../lib/paged.ts";
import { useServices } from "../services/services.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Problem } from "../ui/problem.tsx";
import { useMoreWords, useWords } from "../words/words.ts";

type Asked = "empty" | TrashedConversation;

/** The trash: each conversation can come back, or go for ever. */
export default function TrashList() {
  const words = useMoreWords().trash;
  const { common, rail } = useWords();
  const { client, language } = useServices();
  const [list, setList] = useState<Paged<TrashedConversation> | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [asked, setAsked] = useState<Asked | null>(null);

  const attempt = async (act: () => Promise<void>): Promise<void> => {
    setProblem(null);
    try {
      await act();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  const read = useCallback(
    async (pageId: string | null): Promise<void> => {
      const query = { limit: 50, ...(pageId === null ? {} : { page_id: pageId }) };
      const page = await client.call("GET /api/trash", { query });
      const next = { items: page.items, nextPageId: page.next_page_id };
      setList((before) => (pageId === null ? next : withPage(before, pageId, next)));
    },
    [client],
  );
  useEffect(() => void attempt(() => read(null)), [read]);

  const restore = async (id: string): Promise<void> => {
    await client.call("POST /api/trash/{conversation_id}/restore", { params: { conversation_id: id } });
    await read(null);
  };
  const remove = async (what: Asked): Promise<void> => {
    setAsked(null);
    if (what === "empty") await client.call("POST /api/trash/empty", { timeoutMs: 600_000 });
    else
      await client.call("DELETE /api/trash/{conversation_id}", {
        params: { conversation_id: what.conversation_id },
      });
    await read(null);
  };
  const { items, nextPageId = null } = list ?? {};
  const day = (time: string): string => new Date(time).toLocaleDateString(language);
  return (
    <>
      <Problem text={problem} />
      {items?.length === 0 && <p className="text-faint">{words.none}</p>}
      <ul className="lines">
        {items?.map((entry) => (
          <li key={entry.conversation_id} className="flex flex-wrap items-center gap-2.5 py-1">
            <span className="min-w-0 grow basis-40 truncate">{entry.title ?? rail.untitled}</span>
            <span className="shrink-0 text-xs text-faint" title={entry.reason}>
              {entry.hold_reason === null ? words.until(day(entry.ends_at)) : words.onHold}
            </span>
            <Button variant="quiet" onClick={() => void attempt(() => restore(entry.conversation_id))}>
              {words.restore}
            </Button>
            <Button variant="danger" disabled={entry.hold_reason !== null} onClick={() => setAsked(entry)}>
              {words.delete}
            </Button>
          </li>
        ))}
      </ul>
      <div className="mt-3 flex gap-2">
        {nextPageId !== null && (
          <Button onClick={() => void attempt(() => read(nextPageId))}>{words.more}</Button>
        )}
        {items !== undefined && items.length > 0 && (
          <Button variant="danger" onClick={() => setAsked("empty")}>
            {words.empty}
          </Button>
        )}
      </div>
      {asked !== null && (
        <Dialog title={asked === "empty" ? words.empty : words.delete} onClose={() => setAsked(null)}>
          <p className="mb-4 text-sm text-soft">{words.confirm}</p>
          <div className="flex justify-end gap-2">
            <Button onClick={() => setAsked(null)}>{common.cancel}</Button>
            <Button variant="danger" onClick={() => void attempt(() => remove(asked))}>
              {words.delete}
            </Button>
          </div>
        </Dialog>
      )}
    </>
  );
}
