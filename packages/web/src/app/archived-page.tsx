import { Suspense, useCallback, useEffect, useState } from "react";
import { Link } from "wouter";
import { lazyPart } from "../lib/lazy-part.ts";
import { withPage, type Paged } from "../lib/paged.ts";
import { shownTime } from "../lib/shown-times.ts";
import { toSummary, type Summary } from "../overview/summary.ts";
import { useServices } from "../services/services.ts";
import { Button } from "../ui/button.tsx";
import { StateMark } from "../ui/state-mark.tsx";
import { Problem } from "../ui/problem.tsx";
import { useMoreWords, useWords } from "../words/words.ts";
import { ImportButton } from "../home/import-button.tsx";

const TrashList = lazyPart(() => import("./trash-list.tsx"));

/** Archived conversations, last changed first, and the trash. */
export default function ArchivedPage() {
  const { archived: words, trash } = useMoreWords();
  const [isTrash, setTrash] = useState(false);
  const { rail } = useWords();
  const { client, language } = useServices();
  const [list, setList] = useState<Paged<Summary> | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
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
      const page = await client.call("GET /api/glances", {
        query: { archived: true, limit: 50, ...(pageId === null ? {} : { page_id: pageId }) },
      });
      const next = { items: page.items.map(toSummary), nextPageId: page.next_page_id ?? null };
      setList((before) => (pageId === null ? next : withPage(before, pageId, next)));
    },
    [client],
  );
  useEffect(() => void attempt(() => read(null)), [read]);
  const putBack = async (id: string): Promise<void> => {
    await client.call("PUT /api/conversations/{conversation_id}/marks", {
      params: { conversation_id: id },
      body: { is_archived: false },
    });
    setList((before) => before && { ...before, items: before.items.filter((summary) => summary.id !== id) });
  };
  const { items: summaries, nextPageId = null } = list ?? {};
  return (
    <div className="h-full overflow-y-auto">
      <div className="mx-auto max-w-[52rem] px-5 py-5 max-[720px]:px-3">
        <div className="mb-4 flex items-center gap-2">
          <h1 className="grow text-xl font-semibold">{isTrash ? trash.title : words.title}</h1>
          <Button variant="quiet" onClick={() => setTrash(!isTrash)}>
            {isTrash ? words.title : trash.title}
          </Button>
          <ImportButton />
        </div>
        {isTrash && (
          <Suspense>
            <TrashList />
          </Suspense>
        )}
        <Problem text={problem} />
        {!isTrash && summaries?.length === 0 && <p className="text-faint">{words.none}</p>}
        <ul className="lines" hidden={isTrash}>
          {summaries?.map(({ id, title, status, updatedAt }) => (
            <li key={id} className="flex items-center gap-2.5 py-1">
              <StateMark status={status} size={13} />
              <Link
                href={`/c/${id}`}
                className="min-w-0 grow truncate underline-offset-2 hover:underline pointer-coarse:py-2.5"
              >
                {title ?? rail.untitled}
              </Link>
              <time dateTime={updatedAt} className="shrink-0 text-xs text-faint tabular-nums">
                {shownTime(updatedAt, language, new Date())}
              </time>
              <Button variant="quiet" onClick={() => void attempt(() => putBack(id))}>
                {words.putBack}
              </Button>
            </li>
          ))}
        </ul>
        {!isTrash && nextPageId !== null && (
          <Button className="mt-3" onClick={() => void attempt(() => read(nextPageId))}>
            {words.more}
          </Button>
        )}
      </div>
    </div>
  );
}
