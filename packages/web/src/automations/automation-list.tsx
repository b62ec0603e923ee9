import type { Automation } from "@convoke/protocol";
import { Link } from "wouter";
import { shownTime } from "../lib/shown-times.ts";
import { useServices } from "../services/services.ts";
import { Button } from "../ui/button.tsx";
import { Problem } from "../ui/problem.tsx";
import { useMoreWords } from "../words/words.ts";
import { AutomationActions, useAttempt } from "./automation-actions.tsx";
import { describeTrigger } from "./describe-trigger.ts";
import { RunMark } from "./run-mark.tsx";
import { shownDue } from "./shown-due.ts";
import { useAutomations } from "./use-automations.ts";

/** All automations of the caller. */
export function AutomationListView() {
  const words = useMoreWords().automations;
  const { list, problem, more, reload } = useAutomations();
  const { problem: failure, isBusy, attempt } = useAttempt();
  return (
    <>
      <div className="mb-1 flex flex-wrap items-center justify-between gap-3">
        <h1 className="text-xl font-semibold">{words.title}</h1>
        <Link
          href="/automations/new"
          className="inline-flex h-7 items-center rounded-md bg-accent-fill px-2.5 text-sm whitespace-nowrap font-medium text-on-accent hover:brightness-110 pointer-coarse:h-11 pointer-coarse:px-4"
        >
          {words.new}
        </Link>
      </div>
      <p className="mb-4 text-sm text-soft">{words.about}</p>
      <Problem text={failure ?? problem} />
      {list?.items.length === 0 && (
        <div className="rounded-md border border-line bg-raised px-4 py-6 text-center">
          <p className="mb-1 font-medium">{words.noneTitle}</p>
          <p className="text-sm text-soft">{words.none}</p>
        </div>
      )}
      {list !== null && list.items.length > 0 && (
        <ul className="lines border-y border-line">
          {list.items.map((automation) => (
            <li key={automation.id} className="flex flex-wrap items-center gap-x-2 gap-y-1.5 py-2.5">
              <Summary automation={automation} />
              <div className="flex gap-2 max-[720px]:basis-full">
                <AutomationActions
                  automation={automation}
                  isBusy={isBusy}
                  attempt={attempt}
                  onChanged={reload}
                />
              </div>
            </li>
          ))}
        </ul>
      )}
      {list !== null && list.nextPageId !== null && (
        <Button className="mt-3" onClick={() => void attempt(more)}>
          {words.more}
        </Button>
      )}
    </>
  );
}

function Summary({ automation }: { readonly automation: Automation }) {
  const words = useMoreWords().automations;
  const { language } = useServices();
  const { id, name, trigger, is_paused: isPaused, next_due_at: next, last_run: last } = automation;
  const timeZone = trigger.kind === "cron" ? trigger.time_zone : undefined;
  const isScheduled = trigger.kind !== "webhook" && trigger.kind !== "event";
  return (
    <div className="min-w-0 grow basis-64">
      <p className="flex items-center gap-2">
        <Link
          href={`/automations/${id}`}
          className="min-w-0 truncate font-medium underline-offset-2 hover:underline pointer-coarse:py-1.5"
        >
          {name}
        </Link>
        {isPaused && (
          <span className="shrink-0 rounded bg-warn-wash px-1.5 text-xs text-warn">{words.paused}</span>
        )}
      </p>
      <p className="text-sm text-soft">{describeTrigger(trigger, words, language)}</p>
      <p className="flex flex-wrap gap-x-3 text-xs text-faint tabular-nums">
        {isScheduled && !isPaused && (
          <span>{next === null ? words.noNext : words.next(shownDue(next, language, timeZone))}</span>
        )}
        {last === null ? (
          <span>{words.neverRan}</span>
        ) : (
          <span className="flex items-center gap-1.5">
            <RunMark state={last.state} />
            {words.lastRun(words.states[last.state], shownTime(last.created_at, language, new Date()))}
          </span>
        )}
      </p>
    </div>
  );
}
