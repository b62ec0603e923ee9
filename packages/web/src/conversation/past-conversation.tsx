import type { PastState } from "@convoke/protocol";
import { Suspense, useCallback, useEffect, useMemo, useState, type ComponentType } from "react";
import { useLocation } from "wouter";
import { conversationAddress } from "../lib/conversation-address.ts";
import { useStore } from "../lib/store.ts";
import type { OpenLog } from "../log/open-log.ts";
import { useServices } from "../services/services.ts";
import type { RowMenu } from "../timeline/row-menu.ts";
import type { TimelineProps } from "../timeline/timeline.tsx";
import { Button } from "../ui/button.tsx";
import { StateMark } from "../ui/state-mark.tsx";
import { Problem } from "../ui/problem.tsx";
import { useMoreWords, useWords } from "../words/words.ts";
import { ConversationTitle } from "./conversation-title.tsx";
import Meters from "./meters.tsx";
import { Scrubber } from "./scrubber.tsx";
import { useLandmarks } from "./use-landmarks.ts";
import { useMoment } from "./use-moment.ts";

type PastConversationProps = {
  readonly id: string;
  /** The last shown event; empty for the newest. */
  readonly at: string;
  readonly menu: RowMenu;
  /** The timeline component, passed in so that this chunk does not include it. */
  readonly Timeline: ComponentType<TimelineProps>;
};

/** The conversation as of an event, read-only. */
export default function PastConversation({ id, at, menu, Timeline }: PastConversationProps) {
  const words = useMoreWords().past;
  const { toNow } = useWords().timeline;
  const [, navigate] = useLocation();
  const onMoved = useCallback(
    (eventId: string): void =>
      navigate(conversationAddress(id, location.search, { at: eventId }), { replace: true }),
    [navigate, id],
  );
  const onNow = useCallback(
    (): void => navigate(conversationAddress(id, location.search, { at: null })),
    [navigate, id],
  );
  const { past, wanted, problem, goTo } = useMoment(id, at, onMoved);
  const pastMenu = useMemo<RowMenu>(
    () => ({
      ...menu,
      goBack: (eventId) => {
        onNow();
        menu.goBack(eventId);
      },
      editAndBranch: (eventId, text) => {
        onNow();
        menu.editAndBranch(eventId, text);
      },
    }),
    [menu, onNow],
  );
  return (
    <div className="flex min-h-0 grow flex-col">
      {past === null || past.event_id === null ? (
        <div className="grow" aria-busy={problem === null && past === null} />
      ) : (
        <PastRows
          id={id}
          past={past}
          eventId={past.event_id}
          wanted={wanted}
          goTo={goTo}
          onNow={onNow}
          menu={pastMenu}
          Timeline={Timeline}
        />
      )}
      <div className="mx-auto w-full max-w-[52rem] shrink-0 px-5 pt-1 pb-[max(0.75rem,env(safe-area-inset-bottom))] max-[720px]:px-3">
        <Problem className="mb-2" text={problem} />
        {past !== null && <PastWaiting past={past} />}
        <div className="flex items-center gap-3 rounded-lg border border-line bg-sunken py-2 pr-2 pl-3.5 text-sm text-soft">
          <p className="grow">{words.note}</p>
          <Button onClick={onNow}>{toNow}</Button>
        </div>
      </div>
    </div>
  );
}

type PastRowsProps = Omit<PastConversationProps, "at"> & {
  readonly past: PastState;
  readonly eventId: string;
  readonly wanted: number | null;
  readonly goTo: (position: number) => void;
  readonly onNow: () => void;
};

function PastRows({ id, past, eventId, wanted, goTo, onNow, menu, Timeline }: PastRowsProps) {
  const { shown, shownId } = useWindow(id, eventId, past);
  const { phase, state } = useStore(shown.view);
  const landmarks = useLandmarks(id, past.length);
  return (
    <>
      <header className="flex h-11 shrink-0 items-center gap-2.5 border-b border-line px-3 max-[720px]:gap-2">
        <StateMark status={state.status} />
        <ConversationTitle id={id} state={state} />
        <span className="grow" />
        <Suspense>
          <Meters state={state} />
        </Suspense>
      </header>
      <Scrubber past={past} landmarks={landmarks} wanted={wanted} goTo={goTo} onNow={onNow} />
      {phase === "ready" ? (
        <Timeline key={shownId} log={shown} menu={menu} sends={0} />
      ) : (
        <div className="grow" aria-busy={phase === "loading"} />
      )}
    </>
  );
}

/** The approvals and messages that were pending at that event. */
function PastWaiting({ past }: { readonly past: PastState }) {
  const words = useMoreWords().past;
  const waiting = past.open_actions.filter((action) => action.is_waiting);
  if (waiting.length === 0 && past.queued.length === 0) return null;
  return (
    <ul className="mb-2 text-sm text-soft">
      {waiting.map((action) => (
        <li key={action.action_id}>{words.waiting(action.tool_name)}</li>
      ))}
      {past.queued.length > 0 && <li>{words.queued(past.queued.length)}</li>}
    </ul>
  );
}

/** The log up to the event; until it is loaded, the one shown before. */
function useWindow(
  id: string,
  eventId: string,
  past: PastState,
): { readonly shown: OpenLog; readonly shownId: string } {
  const { logs } = useServices();
  const log = useMemo(() => logs.get(id, eventId, past), [logs, id, eventId, past]);
  useEffect(() => logs.watch(id, eventId, past), [logs, id, eventId, past]);
  const [ready, setReady] = useState({ shown: log, shownId: eventId });
  const { phase } = useStore(log.view);
  if (phase !== "loading" && ready.shown !== log) setReady({ shown: log, shownId: eventId });
  return ready;
}
