import { Suspense, useEffect, useMemo, useState } from "react";
import { useLocation } from "wouter";
import { actOnCommand, type Command, parseCommand, type Row, suggestFor } from "@convoke/client/view";
import { Composer, type ComposedMessage } from "../composer/composer.tsx";
import { WaitingMessages, type Queued } from "../composer/waiting-messages.tsx";
import { useStore } from "../lib/store.ts";
import type { LogView, OpenLog } from "../log/open-log.ts";
import { useServices } from "../services/services.ts";
import { lazyPart } from "../lib/lazy-part.ts";
import { ErrorBoundary } from "../ui/error-boundary.tsx";
import { Problem } from "../ui/problem.tsx";
import { useMoreWords } from "../words/words.ts";
import type { Attempt } from "./attempt.ts";
import { useReadMarker } from "./use-read-marker.ts";

const PlanCard = lazyPart(() => import("./plan-card.tsx"));
const AsideCard = lazyPart(() => import("./aside-card.tsx"));
const LeftBehindNote = lazyPart(() => import("./left-behind-note.tsx"));
const ApprovalCard = lazyPart(() => import("../approvals/approval-card.tsx"));

/** States after a run, in which a plan can be approved: not before the first one. */
const endedStatuses: ReadonlySet<string> = new Set(["finished", "paused", "error", "stuck"]);

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
  useSeen(log.id, view.newest);
  useReadMarker(log.id, view);
  const say = (composed: ComposedMessage): void => {
    outbox.add({ id: crypto.randomUUID(), conversationId: log.id, ...composed, run: true });
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
    if (how === "ctrl-enter") await onAttempt(() => client.interrupt(log.id));
    say(composed);
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
      <WaitingMessages conversationId={log.id} queued={queuedOf(view)} onEdit={(text) => onGive({ text })} />
      <Composer
        key={log.id}
        place={log.id}
        status={view.state.status}
        given={given}
        suggest={suggest}
        onSend={(composed, how) => void send(composed, how)}
      />
    </>
  );
}

function queuedOf({ newest, state }: LogView): readonly Queued[] {
  // Before a run a message is not queued.
  if (state.status === "idle" || state.status === "finished") return [];
  const queued = new Set(state.queued);
  return newest.flatMap((row) =>
    row.type === "message" && queued.has(row.id) && !row.isTakenBack
      ? [{ eventId: row.id, text: row.text }]
      : [],
  );
}

/** Removes a message from the outbox when the log contains it. */
function useSeen(conversationId: string, rows: readonly Row[]): void {
  const { outbox } = useServices();
  const outgoing = useStore(outbox);
  useEffect(() => {
    for (const message of outgoing) {
      if (message.conversationId !== conversationId || message.state !== "sent") continue;
      const isThere = rows.some(({ id }) => id === message.eventId);
      if (isThere) outbox.remove(message.id);
    }
  }, [conversationId, outgoing, outbox, rows]);
}
