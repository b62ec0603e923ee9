import { Suspense, useEffect, useMemo, useState } from "react";
import { useLocation } from "wouter";
import type { WhileRunning } from "@convoke/protocol";
import { actOnCommand, type Command, parseCommand, type Row, suggestFor } from "@convoke/client/view";
import { Composer, type ComposedMessage } from "../composer/composer.tsx";
import { SendMode } from "../composer/send-mode.tsx";
import { WaitingMessages, type Queued } from "../composer/waiting-messages.tsx";
import { useStore } from "../lib/store.ts";
import type { LogView, OpenLog } from "../log/open-log.ts";
import { useServices } from "../services/services.ts";
import { lazyPart } from "../lib/lazy-part.ts";
import { ErrorBoundary } from "../ui/error-boundary.tsx";
import { Problem } from "../ui/problem.tsx";
import { useMoreWords } from "../words/words.ts";
import type { Attempt } from "./attempt.ts";
import { PendingToolCalls } from "./pending-tool-calls.tsx";
import { useReadMarker } from "./use-read-marker.ts";

const PlanCard = lazyPart(() => import("./plan-card.tsx"));
const AsideCard = lazyPart(() => import("./aside-card.tsx"));
const AcpModelChoice = lazyPart(() => import("../composer/acp-model-choice.tsx"));
const LeftBehindNote = lazyPart(() => import("./left-behind-note.tsx"));
const ApprovalCard = lazyPart(() => import("../approvals/approval-card.tsx"));

/** States after a run, in which a plan can be approved: not before the first one. */
const endedStatuses: ReadonlySet<string> = new Set(["finished", "paused", "error", "stuck"]);

/** States in which a message says what it does. */
const atWork: ReadonlySet<string> = new Set(["running", "waiting_for_confirmation"]);

/** The side question; without an answer until it has arrived. */
type Aside = { readonly question: string; readonly answer: string | null };

type ConversationFootProps = {
  readonly log: OpenLog;
  readonly view: LogView;
  /** Text to insert into the composer. */
  readonly given: { readonly text: string } | null;
  readonly problem: string | null;
  readonly onGive: (given: { readonly text: string }) => void;
  readonly onAttempt: Attempt;
  readonly onSent: () => void;
};

/** Below the timeline: approvals, queued messages, the composer. */
export default function ConversationFoot(props: ConversationFootProps) {
  const { log, view, given, problem, onGive, onAttempt, onSent } = props;
  const { approvals, client, outbox } = useServices();
  const waiting = useStore(approvals).filter(({ conversationId }) => conversationId === log.id);
  const words = useMoreWords().commands;
  const [, navigate] = useLocation();
  const [mode, setMode] = useState<WhileRunning | "">("");
  const [aside, setAside] = useState<Aside | null>(null);
  const folder = view.state.workingDir;
  const suggest = useMemo(
    () =>
      folder === null
        ? null
        : suggestFor(client, {
            conversationId: log.id,
            folder,
            descriptions: words.descriptions,
            onFailure: (error) => console.warn("The skills could not be loaded.", error),
          }),
    [client, log.id, folder, words],
  );
  useSeen(log.id, view.newest, view.state.lastEventId);
  useReadMarker(log.id, view);
  const isAtWork = atWork.has(view.state.status);
  const say = (composed: ComposedMessage, whileRunning?: WhileRunning): void => {
    outbox.add({ id: crypto.randomUUID(), conversationId: log.id, ...composed, whileRunning });
    onSent();
  };
  const act = async (command: Command, composed: ComposedMessage): Promise<void> => {
    if (command.name === "ask") setAside({ question: command.text, answer: null });
    const isDone = await onAttempt(async () => {
      const { goTo, answer } = await actOnCommand(client, log.id, command, words.needed);
      if (goTo !== undefined) navigate(`/c/${goTo}`);
      if (answer !== undefined) setAside({ question: command.text, answer });
    });
    if (isDone) return;
    setAside(null);
    onGive({ text: composed.text });
  };
  const send = async (composed: ComposedMessage, how: "enter" | "ctrl-enter"): Promise<void> => {
    const command = composed.images.length === 0 ? parseCommand(composed.text) : null;
    if (command !== null) return act(command, composed);
    say(composed, how === "ctrl-enter" ? "interrupt" : isAtWork && mode !== "" ? mode : undefined);
  };
  return (
    <>
      <Problem className="mb-2" text={problem} />
      <Suspense>
        {endedStatuses.has(view.state.status) && <LeftBehindNote conversationId={log.id} />}
        {view.state.isPlanning && endedStatuses.has(view.state.status) && (
          <PlanCard
            conversationId={log.id}
            view={view}
            onAttempt={onAttempt}
            onChange={(text) => say({ text, images: [] })}
          />
        )}
        {aside !== null && <AsideCard {...aside} onClose={() => setAside(null)} />}
        {waiting.length > 0 && (
          <div className="mb-2 flex max-h-[45dvh] flex-col gap-2 overflow-y-auto">
            {waiting.map((approval) => (
              <ErrorBoundary key={approval.actionId} versions={[approval]}>
                <ApprovalCard approval={approval} />
              </ErrorBoundary>
            ))}
          </div>
        )}
      </Suspense>
      <PendingToolCalls conversationId={log.id} view={view} />
      <WaitingMessages conversationId={log.id} queued={queuedOf(view)} onEdit={(text) => onGive({ text })} />
      <Composer
        key={log.id}
        place={log.id}
        status={view.state.status}
        given={given}
        suggest={suggest}
        onSend={(composed, how) => void send(composed, how)}
      >
        {view.state.isOtherAgent && (
          <Suspense>
            <AcpModelChoice
              conversationId={log.id}
              model={view.state.model}
              onAttempt={onAttempt}
              onChoose={(text) =>
                void onAttempt(async () => {
                  await actOnCommand(client, log.id, { name: "model", text }, words.needed);
                })
              }
            />
          </Suspense>
        )}
        {isAtWork && <SendMode conversationId={log.id} mode={mode} onChange={setMode} />}
      </Composer>
    </>
  );
}

function queuedOf({ newest, state }: LogView): readonly Queued[] {
  const { held = [] } = state;
  const later = held.map(({ event_id: eventId, text }) => ({ eventId, text, isLater: true }));
  // Before a run a message is not queued.
  if (state.status === "idle" || state.status === "finished") return later;
  const queued = new Set(state.queued);
  const next = newest.flatMap((row) =>
    row.type === "message" && queued.has(row.id) && !row.isTakenBack
      ? [{ eventId: row.id, text: row.text, isLater: false }]
      : [],
  );
  return [...next, ...later];
}

/** Removes a message from the outbox when the log contains it. */
function useSeen(conversationId: string, rows: readonly Row[], lastEventId: string | null): void {
  const { outbox } = useServices();
  const outgoing = useStore(outbox);
  useEffect(() => {
    for (const message of outgoing) {
      if (message.conversationId !== conversationId || message.state !== "sent") continue;
      // A message that waits for the end of the run has no row yet: its record is among the events before the newest one.
      const { eventId } = message;
      const isThere =
        rows.some(({ id }) => id === eventId) || (eventId !== null && (lastEventId ?? "") >= eventId);
      if (isThere) outbox.remove(message.id);
    }
  }, [conversationId, lastEventId, outgoing, outbox, rows]);
}
