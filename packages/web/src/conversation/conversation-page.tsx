import { Suspense, useCallback, useEffect, useMemo, useState } from "react";
import { Link, useLocation, useSearch } from "wouter";
import { useStore } from "../lib/store.ts";
import { waitingIds } from "../lib/waiting-ids.ts";
import type { LogView, OpenLog } from "../log/open-log.ts";
import { useServices } from "../services/services.ts";
import { Timeline } from "../timeline/timeline.tsx";
import type { RowMenu } from "../timeline/row-menu.ts";
import { ErrorBoundary } from "../ui/error-boundary.tsx";
import { Button } from "../ui/button.tsx";
import { useWords } from "../words/words.ts";
import { lazyPart, loadWithRetry } from "../lib/lazy-part.ts";
import { conversationAddress } from "../lib/conversation-address.ts";
import type { Attempt } from "./attempt.ts";

const conversationFrame = () => import("./conversation-frame.ts");
const ConversationBar = lazyPart(async () => ({ default: (await conversationFrame()).ConversationBar }));
const ConnectionLine = lazyPart(async () => ({ default: (await conversationFrame()).ConnectionLine }));
const PastConversation = lazyPart(() => import("./past-conversation.tsx"));
const PastTimeline = lazyPart(() => import("./past-timeline.tsx"));
const Foot = lazyPart(async () => ({ default: (await conversationFrame()).Foot }));
const TaskStrip = lazyPart(async () => ({ default: (await conversationFrame()).TaskStrip }));
const Panels = lazyPart(() => import("./panels.tsx"));
const branches = () => loadWithRetry(() => import("./branches.ts"));

/** One conversation: timeline, approvals, composer. */
export function ConversationPage({ id }: { readonly id: string }) {
  const { logs } = useServices();
  const { conversation: words, rail } = useWords();
  const log = useMemo(() => logs.get(id), [logs, id]);
  useEffect(() => logs.watch(id), [logs, id]);
  const view = useStore(log.view);
  if (view.phase === "missing" || view.phase === "failed") {
    return (
      <div className="flex h-full flex-col items-center justify-center gap-3 text-soft">
        <h1>{view.phase === "missing" ? words.missing : words.failed}</h1>
        {view.phase === "failed" && <Button onClick={() => log.show()}>{words.tryAgain}</Button>}
        <Link
          href="/conversations"
          className="underline underline-offset-2 hover:text-ink pointer-coarse:min-h-11"
        >
          {rail.conversations}
        </Link>
      </div>
    );
  }
  return <OpenConversation log={log} view={view} />;
}

function OpenConversation({ log, view }: { readonly log: OpenLog; readonly view: LogView }) {
  const words = useWords().conversation;
  const { client, approvals, logs } = useServices();
  const [, navigate] = useLocation();
  const search = useSearch();
  const address = new URLSearchParams(search);
  const panel = address.get("panel");
  const at = address.get("event");
  const then = address.get("at");
  const [given, setGiven] = useState<{ readonly text: string } | null>(null);
  const [sends, setSends] = useState(0);
  const [problem, setProblem] = useState<string | null>(null);
  const { status } = view.state;
  const waiting = waitingIds(view.state);

  // The log says whether approvals are pending; the server has their details and deadlines.
  useEffect(() => void approvals.refresh(), [approvals, status, waiting]);

  const attempt = useCallback<Attempt>(
    async (act) => {
      setProblem(null);
      try {
        await act();
        return true;
      } catch (error) {
        setProblem(error instanceof Error ? error.message : words.failed);
        return false;
      }
    },
    [words],
  );
  /** Forks the conversation, up to an event or whole, and opens the fork. */
  const fork = useCallback(
    (eventId?: string): void =>
      void attempt(async () => {
        const { copyOf } = await branches();
        navigate(`/c/${await copyOf(client, log.id, eventId)}`);
      }),
    [client, attempt, log.id, navigate],
  );
  const open = useCallback(
    (name: string, of: string): void =>
      navigate(conversationAddress(log.id, location.search, { panel: name, of, path: null })),
    [log.id, navigate],
  );
  const menu = useMemo<RowMenu>(
    () => ({
      fork,
      goBack: (eventId) => void attempt(async () => (await branches()).goTo(client, log.id, eventId)),
      editAndBranch: (eventId, text) =>
        void attempt(async () => {
          const { eventBefore, goTo } = await branches();
          await goTo(client, log.id, await eventBefore(client, log.id, eventId));
          setGiven({ text });
        }),
      showEvent: (eventId) => open("events", eventId),
      showContext: (eventId) => open("context", eventId),
    }),
    [client, attempt, fork, log.id, open],
  );

  useEffect(() => {
    // Closing the past returns to the present.
    if (at !== null) log.leave(null);
  }, [at, log]);
  const onSent = useCallback((): void => setSends((count) => count + 1), []);

  return (
    <div className="relative flex h-full min-w-0">
      <div className="flex min-w-0 grow flex-col">
        {then !== null && view.phase === "ready" ? (
          <ErrorBoundary versions={[then]}>
            <Suspense fallback={<div className="grow" aria-busy="true" />}>
              <PastConversation id={log.id} at={then} menu={menu} Timeline={Timeline} />
            </Suspense>
          </ErrorBoundary>
        ) : (
          <>
            <ErrorBoundary versions={[view.state]}>
              <Suspense fallback={<div className="h-11 shrink-0 border-b border-line" />}>
                <ConversationBar
                  log={log}
                  state={view.state}
                  onAttempt={attempt}
                  onFork={() => fork()}
                  onPanel={(name) =>
                    navigate(
                      conversationAddress(log.id, search, {
                        panel: name === panel ? null : name,
                        of: null,
                        path: null,
                      }),
                    )
                  }
                  onDeleted={() => {
                    logs.forget(log.id);
                    navigate("/");
                  }}
                />
              </Suspense>
            </ErrorBoundary>
            <ErrorBoundary versions={[view.newest]}>
              <Suspense>
                <ConnectionLine log={log} />
                <TaskStrip rows={view.newest} />
              </Suspense>
            </ErrorBoundary>
            <ErrorBoundary versions={[log.id, at, view.newest]}>
              {view.phase === "loading" ? (
                <div className="grow" aria-busy="true" />
              ) : at === null ? (
                <Timeline key={log.id} log={log} menu={menu} sends={sends} />
              ) : (
                <Suspense fallback={<div className="grow" aria-busy="true" />}>
                  <PastTimeline
                    id={log.id}
                    at={at}
                    q={address.get("q") ?? ""}
                    menu={menu}
                    sends={sends}
                    Timeline={Timeline}
                  />
                </Suspense>
              )}
            </ErrorBoundary>
            <div className="mx-auto w-full max-w-[52rem] shrink-0 px-5 pt-1 pb-[max(0.75rem,env(safe-area-inset-bottom))] max-[720px]:px-3">
              <ErrorBoundary versions={[view.newest]}>
                <Suspense fallback={<div className="h-20" />}>
                  <Foot
                    log={log}
                    view={view}
                    given={given}
                    problem={problem}
                    onGive={setGiven}
                    onAttempt={attempt}
                    onSent={onSent}
                  />
                </Suspense>
              </ErrorBoundary>
            </div>
          </>
        )}
      </div>
      <ErrorBoundary versions={[search]}>
        <Suspense>
          {panel !== null && view.phase === "ready" && (
            <Panels name={panel} log={log} view={view} onSent={onSent} />
          )}
        </Suspense>
      </ErrorBoundary>
    </div>
  );
}
