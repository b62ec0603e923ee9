import { ExternalLink } from "lucide-react";
import {
  Suspense,
  use,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  type ReactNode,
} from "react";
import { Link } from "wouter";
import { lazyPart } from "../lib/lazy-part.ts";
import { useStore } from "../lib/store.ts";
import { waitingIds } from "../lib/waiting-ids.ts";
import type { LogView, OpenLog } from "../log/open-log.ts";
import { PastMomentContext } from "../log/past-moment-context.ts";
import { useServices } from "../services/services.ts";
import { Button } from "../ui/button.tsx";
import { StateMark, statusWord } from "../ui/state-mark.tsx";
import { useMoreWords, useWords } from "../words/words.ts";
import type { Item } from "./items.ts";
import type { RowContext } from "./row-view.tsx";
import type { TaskThreadParts } from "./task-thread-parts.ts";

const ApprovalCard = lazyPart(() => import("../approvals/approval-card.tsx"));

/** Rows rendered at first, and added on request. */
const step = 60;

type TaskThreadProps = {
  readonly id: string;
  /** The task and its report, if its conversation was deleted. */
  readonly report: ReactNode;
  readonly parts: TaskThreadParts;
};

/**
 * The conversation of a sub-agent inside the card of its task, live while it runs; in a replay as it was at that
 * moment.
 */
export default function TaskThread({ id, report, parts }: TaskThreadProps) {
  const words = useWords();
  const { logs } = useServices();
  const { at, past } = use(PastMomentContext)?.(id) ?? { at: "", past: null };
  const log = useMemo(() => logs.get(id, at, past), [logs, id, at, past]);
  useEffect(() => logs.watch(id, at, past), [logs, id, at, past]);
  const view = useStore(log.view);
  switch (view.phase) {
    case "missing":
      return report;
    case "failed":
      return (
        <p className="flex items-center gap-3 px-3 py-2 text-sm text-bad">
          {words.conversation.failed}
          <Button onClick={() => log.show()}>{words.conversation.tryAgain}</Button>
        </p>
      );
    case "loading":
      return <div className="h-16" aria-busy="true" />;
    case "ready":
      return <OpenThread log={log} view={view} parts={parts} />;
  }
}

type OpenThreadProps = {
  readonly log: OpenLog;
  readonly view: LogView;
  readonly parts: TaskThreadParts;
};

function OpenThread({ log, view, parts }: OpenThreadProps) {
  const words = useWords();
  const more = useMoreWords().task;
  const { rows, state, hasOlder } = view;
  const [shown, setShown] = useState(step);
  const items = useMemo(() => parts.itemsOf(parts.foldTurns(rows), () => true), [rows, parts]);
  const { scroller, onScroll } = useEnd(items, parts);
  const isPast = use(PastMomentContext) !== null;
  const hasMore = items.length > shown || hasOlder;
  const showMore = (): void => {
    if (items.length <= shown + step && hasOlder) void log.loadOlder();
    setShown(shown + step);
  };
  return (
    <section aria-label={more.label} className="border-l-2 border-accent">
      <div className="flex items-center gap-2 border-b border-line bg-raised px-3 py-1 text-xs">
        <StateMark status={state.status} size={13} />
        <span className="min-w-0 grow truncate">{state.title ?? words.rail.untitled}</span>
        <span className="text-faint">{statusWord(words, state.status)}</span>
        {!isPast && (
          <Link
            href={`/c/${log.id}`}
            className="flex items-center gap-1 text-soft hover:text-ink pointer-coarse:min-h-11"
          >
            <ExternalLink size={12} aria-hidden="true" />
            {more.open}
          </Link>
        )}
      </div>
      <div
        ref={scroller}
        role="group"
        aria-label={more.rows}
        tabIndex={0}
        onScroll={onScroll}
        // Keys of the outer timeline do not apply here.
        onKeyDown={(event) => /^(Page|Arrow|Home|End)/.test(event.key) && event.stopPropagation()}
        className="max-h-[32rem] overflow-y-auto px-3 py-1"
      >
        {hasMore && (
          <Button variant="quiet" onClick={showMore}>
            {more.earlier}
          </Button>
        )}
        <Items items={items.slice(-shown)} log={log} view={view} parts={parts} />
      </div>
      <Waiting log={log} ids={waitingIds(state)} />
    </section>
  );
}

type ItemsProps = OpenThreadProps & { readonly items: readonly Item[] };

function Items({ items, log, view: { state }, parts }: ItemsProps) {
  const { RowView, GroupView, LiveView } = parts;
  const [openIds, setOpenIds] = useState<ReadonlySet<string>>(new Set());
  const toggle = useCallback((id: string): void => {
    setOpenIds((before) =>
      before.has(id) ? new Set([...before].filter((other) => other !== id)) : new Set([...before, id]),
    );
  }, []);
  const context = useMemo<RowContext>(
    () => ({
      conversationId: log.id,
      folder: state.workingDir,
      isRunning: state.status === "running",
      progress: log.progress,
      onToggle: toggle,
      onMenu: null,
      isTask: true,
      thread: parts.drawThread,
    }),
    [log, state.workingDir, state.status, toggle, parts],
  );
  const rows = items.map((item) => {
    switch (item.type) {
      case "row":
        return <RowView key={item.key} row={item.row} isOpen={openIds.has(item.row.id)} context={context} />;
      case "group":
        return (
          <GroupView key={item.key} id={item.key} rows={item.rows} openIds={openIds} context={context} />
        );
      case "turn":
        return null;
    }
  });
  return (
    <>
      {rows}
      <LiveView live={log.live} state={state} />
    </>
  );
}

/** Approvals of the sub-agent, shown in context. */
function Waiting({ log, ids }: { readonly log: OpenLog; readonly ids: string }) {
  const { approvals } = useServices();
  useEffect(() => void approvals.refresh(), [approvals, ids]);
  const open = useStore(approvals).filter(({ conversationId }) => conversationId === log.id);
  if (open.length === 0) return null;
  return (
    <div className="flex flex-col gap-2 p-2">
      <Suspense>
        {open.map((approval) => (
          <ApprovalCard key={approval.actionId} approval={approval} />
        ))}
      </Suspense>
    </div>
  );
}

/** Follows new rows while the view is at the end. */
function useEnd(items: readonly Item[], { FollowEnd }: TaskThreadParts) {
  const scroller = useRef<HTMLDivElement>(null);
  const [follow] = useState(() => new FollowEnd());
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element !== null && follow.isFollowing) element.scrollTop = element.scrollHeight;
  }, [items, follow]);
  const onScroll = useCallback((): void => {
    const element = scroller.current;
    if (element === null) return;
    follow.scrolled({
      offset: element.scrollTop,
      viewport: element.clientHeight,
      whole: element.scrollHeight,
    });
  }, [follow]);
  return { scroller, onScroll };
}
