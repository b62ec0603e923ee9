import type { AutomationRun } from "@convoke/protocol";
import { Link } from "wouter";
import type { Paged } from "../lib/paged.ts";
import { exactTime } from "../lib/shown-times.ts";
import { useServices } from "../services/services.ts";
import { Button } from "../ui/button.tsx";
import { useMoreWords } from "../words/words.ts";
import { RunMark } from "./run-mark.tsx";

type RunHistoryProps = { readonly runs: Paged<AutomationRun> | null; readonly onMore: () => void };

/** What an automation has started and skipped, the newest first. */
export function RunHistory({ runs, onMore }: RunHistoryProps) {
  const words = useMoreWords().automations;
  return (
    <section aria-label={words.history}>
      <h2 className="mb-1.5 text-lg font-semibold">{words.history}</h2>
      {runs?.items.length === 0 && <p className="text-faint">{words.noHistory}</p>}
      {runs !== null && runs.items.length > 0 && (
        <ul className="lines border-y border-line">
          {runs.items.map((run) => (
            <RunRow key={run.id} run={run} />
          ))}
        </ul>
      )}
      {runs !== null && runs.nextPageId !== null && (
        <Button className="mt-3" onClick={onMore}>
          {words.more}
        </Button>
      )}
    </section>
  );
}

function RunRow({ run }: { readonly run: AutomationRun }) {
  const words = useMoreWords().automations;
  const { language } = useServices();
  const { state, origin, count, reason, due_at: dueAt, conversation_id: conversationId } = run;
  const hasConversation = conversationId !== null && run.started_at !== null;
  return (
    <li className="flex flex-wrap items-center gap-x-2.5 gap-y-0.5 py-2">
      <RunMark state={state} />
      <span className="w-24 shrink-0 text-sm">{words.states[state]}</span>
      <span className="min-w-0 grow text-sm text-soft tabular-nums">
        <time dateTime={dueAt}>{exactTime(dueAt, language)}</time>
        <span className="text-faint">
          {" · "}
          {words.origins[origin]}
          {count > 1 && ` · ${words.skippedTimes(count)}`}
        </span>
      </span>
      {hasConversation && (
        <Link
          href={`/c/${conversationId}`}
          className="text-sm text-accent underline-offset-2 hover:underline max-[720px]:pl-6 pointer-coarse:py-2.5"
        >
          {words.openConversation}
        </Link>
      )}
      {reason !== null && <p className="basis-full pl-6 text-xs text-faint">{reason}</p>}
    </li>
  );
}
