import { ApiError } from "@convoke/client";
import type { LeftBehind } from "@convoke/protocol";
import { TriangleAlert } from "lucide-react";
import { useEffect, useState } from "react";
import { useServices } from "../services/services.ts";
import { useMoreWords } from "../words/words.ts";

const maxShown = 20;

/** What the agent left in its folder that would run outside of the wall; nothing when there is nothing. To be shown after a run. */
export default function LeftBehindNote({ conversationId }: { readonly conversationId: string }) {
  const { client } = useServices();
  const words = useMoreWords().leftBehind;
  const [found, setFound] = useState<LeftBehind | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    client
      .call("GET /api/conversations/{conversation_id}/left_behind", {
        params: { conversation_id: conversationId },
        signal: stop.signal,
      })
      .then(setFound)
      .catch((error: unknown) => {
        // Without a wall on this machine nothing is searched.
        const isExpected =
          error instanceof ApiError && (error.code === "no_wall" || error.code === "machine_refused");
        if (!stop.signal.aborted && !isExpected)
          setProblem(error instanceof Error ? error.message : String(error));
      });
    return () => stop.abort();
  }, [client, conversationId]);
  if (problem !== null) return <p className="mb-2 text-sm text-soft">{words.failed(problem)}</p>;
  if (found === null || found.count === 0) return null;
  const more = found.count - Math.min(found.files.length, maxShown);
  return (
    <details className="mb-2 rounded-md border border-line bg-raised px-3 py-1.5 text-sm">
      <summary className="flex cursor-pointer items-center gap-2 pointer-coarse:min-h-11">
        <TriangleAlert size={14} className="shrink-0 text-soft" aria-hidden="true" />
        {words.title(found.count)}
      </summary>
      <p className="mt-1.5 text-soft">{words.advice}</p>
      <ul className="mt-1.5 max-h-[30dvh] overflow-y-auto">
        {found.files.slice(0, maxShown).map(({ path, reason, is_new: isNew }) => (
          <li key={path} className="py-0.5">
            <code className="break-all">{path}</code>{" "}
            <span className="text-soft">
              {words.why(isNew ? words.added : words.changed, words.reasons[reason])}
            </span>
          </li>
        ))}
        {more > 0 && <li className="py-0.5 text-soft">{words.more(more)}</li>}
      </ul>
    </details>
  );
}
