import { ShieldAlert, ShieldCheck } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import { ConversationTitle } from "../conversation/conversation-title.tsx";
import Meters from "../conversation/meters.tsx";
import { Scrubber } from "../conversation/scrubber.tsx";
import { exactTime } from "../lib/shown-times.ts";
import { useStore } from "../lib/store.ts";
import type { ReplayFacts } from "../log/replay-facts.ts";
import { PastMomentContext, type PastMoment } from "../log/past-moment-context.ts";
import { useServices } from "../services/services.ts";
import { Timeline } from "../timeline/timeline.tsx";
import { StateMark } from "../ui/state-mark.tsx";
import { useMoreWords } from "../words/words.ts";
import type { RecordedLog } from "./recorded-log.ts";

type ReplayPageProps = {
  readonly log: RecordedLog;
  /** The conversation and those of its sub-agents, by id. */
  readonly logs: ReadonlyMap<string, RecordedLog>;
  readonly facts: ReplayFacts;
};

/** A recorded conversation, shown as of any of its events. It opens at the end. */
export function ReplayPage({ log, logs: recorded, facts }: ReplayPageProps) {
  const { logs } = useServices();
  const [position, setPosition] = useState(log.length);
  const moment = useMemo(() => log.at(position), [log, position]);
  const eventId = moment.event_id ?? "";
  const shown = useMemo(() => logs.get(log.id, eventId, moment.past), [logs, log, eventId, moment]);
  useEffect(() => logs.watch(log.id, eventId, moment.past), [logs, log, eventId, moment]);
  const landmarks = useMemo(() => log.landmarks, [log]);
  const pastMomentOf = useMemo(() => pastMomentsAt(recorded, moment.timestamp ?? ""), [recorded, moment]);
  const { phase, state } = useStore(shown.view);
  return (
    <main className="flex h-dvh flex-col">
      <header className="flex h-11 shrink-0 items-center gap-2.5 border-b border-line px-3 max-[720px]:gap-2">
        <StateMark status={state.status} />
        <ConversationTitle id={log.id} state={state} />
        <span className="grow" />
        <Meters state={state} />
      </header>
      {log.length > 0 && (
        <Scrubber
          past={moment}
          landmarks={landmarks}
          wanted={null}
          goTo={setPosition}
          onNow={() => setPosition(log.length)}
        />
      )}
      {phase === "ready" ? (
        <PastMomentContext value={pastMomentOf}>
          <Timeline key={eventId} log={shown} menu={null} sends={0} />
        </PastMomentContext>
      ) : (
        <div className="grow" aria-busy={phase === "loading"} />
      )}
      <Seal facts={facts} />
    </main>
  );
}

/** The conversations of sub-agents as of a timestamp. */
function pastMomentsAt(
  recorded: ReadonlyMap<string, RecordedLog>,
  instant: string,
): (id: string) => PastMoment | null {
  const known = new Map<string, PastMoment>();
  return (id) => {
    const log = recorded.get(id);
    if (log === undefined) return null;
    let then = known.get(id);
    if (then === undefined) {
      const { event_id: at, past } = log.atInstant(instant);
      then = { at: at ?? "", past };
      known.set(id, then);
    }
    return then;
  };
}

/** The recording time, and the result of verifying its model requests. */
function Seal({ facts: { check, recordedAt, tasksLeft } }: { readonly facts: ReplayFacts }) {
  const { replay, events } = useMoreWords();
  const { language } = useServices();
  const isBroken = check !== null && check.difference !== null;
  const Icon = check === null || isBroken ? ShieldAlert : ShieldCheck;
  const result =
    check === null
      ? replay.unchecked
      : isBroken
        ? events.difference(check.verified)
        : events.verified(check.verified);
  const colour = check === null ? "text-faint" : isBroken ? "text-bad" : "text-good";
  return (
    <footer className="flex shrink-0 flex-wrap items-center gap-x-4 gap-y-1 border-t border-line bg-raised px-3 py-1.5 text-xs text-soft">
      <span className="flex items-center gap-1.5">
        <Icon size={14} className={`shrink-0 ${colour}`} aria-hidden="true" />
        {result}
        {check !== null && check.unrecorded > 0 && ` ${events.unrecorded(check.unrecorded)}`}
      </span>
      <span>{replay.recorded(exactTime(recordedAt, language))}</span>
      {tasksLeft > 0 && <span>{replay.left(tasksLeft)}</span>}
    </footer>
  );
}
