import { ArrowDown } from "lucide-react";
import {
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  type ComponentType,
  type KeyboardEvent,
  type RefObject,
} from "react";
import { Virtualizer, type VirtualizerHandle } from "virtua";
import { findOffBranchRows, foldTurns, type Row, type Turn } from "@convoke/client/view";
import { useStore } from "../lib/store.ts";
import type { OpenLog } from "../log/open-log.ts";
import { maxRows } from "../log/row-window.ts";
import { ErrorBoundary } from "../ui/error-boundary.tsx";
import { Button } from "../ui/button.tsx";
import { useWords } from "../words/words.ts";
import { FollowEnd } from "./follow-end.ts";
import { GroupView } from "./group-view.tsx";
import { itemsOf, type Item } from "./items.ts";
import { ListFrame } from "./list-frame.tsx";
import { LiveView } from "./live-view.tsx";
import { RowView, type RowContext } from "./row-view.tsx";
import type { RowMenu } from "./row-menu.ts";
import { nameOfItem } from "./row-name.ts";
import { threadParts } from "./thread-parts.tsx";
import { TurnFolding } from "./turn-folding.ts";
import { TurnLine } from "./turn-line.tsx";
import { useSavedScroll, useScrollPosition } from "./use-scroll-position.ts";

/** Distance from the top, in pixels, at which older rows are loaded. */
const aheadOfTop = 2_000;

/** A row to show and mark, the component that scrolls to it, and the way back. */
export type Target = {
  readonly rowOf: (rows: readonly Row[]) => string | null;
  readonly ScrollToRow: ComponentType<PlaceProps>;
  readonly onNow: () => void;
};
export type PlaceProps = {
  readonly list: RefObject<VirtualizerHandle | null>;
  readonly scroller: RefObject<HTMLElement | null>;
  /** Index of the item; -1 for none. */
  readonly index: number;
  /** A change means another target. */
  readonly place: string | null;
  readonly onPlaced: () => void;
};

export type TimelineProps = {
  readonly log: OpenLog;
  /** Null if rows have no actions. */
  readonly menu: RowMenu | null;
  /** Incremented with each sent message: the view then scrolls to the end. */
  readonly sends: number;
  /** The event at which a window of the log starts; none at the end of the log. */
  readonly target?: Target;
};

/** The timeline of a conversation; only visible rows are in the DOM. */
export function Timeline({ log, menu, sends, target }: TimelineProps) {
  const { timeline: words, live: liveWords } = useWords();
  const { rows, newest, state, hasOlder, hasNewer } = useStore(log.view);
  const scroller = useRef<HTMLDivElement>(null);
  const list = useRef<VirtualizerHandle>(null);
  // The scroll position of a window of the past is not saved.
  const remembersPlace = target === undefined;
  const left = useSavedScroll(log, remembersPlace);
  const [follow] = useState(() => new FollowEnd(left?.isFollowing ?? remembersPlace));
  const [folding] = useState(() => new TurnFolding(left?.openTurns));
  const [openIds, setOpenIds] = useState<ReadonlySet<string>>(left?.openRows ?? new Set());
  const [folds, setFolds] = useState(0);
  const [isScrolledUp, setIsScrolledUp] = useState(!follow.isFollowing && remembersPlace);
  const [focused, setFocused] = useState(-1);
  /** Nothing is loaded before the list has reached its initial offset. */
  const isPlaced = useRef(target === undefined);

  const turns = useMemo(() => foldTurns(rows), [rows]);
  const targetRow = target?.rowOf(rows) ?? null;
  const items = useMemo(() => {
    folding.see(turns, targetRow);
    return itemsOf(turns, (turn) => folding.isOpen(turn));
    // `folds` counts collapses and expansions.
    // eslint-disable-next-line react/exhaustive-deps
  }, [turns, folding, folds, targetRow]);
  const leftBranches = useMemo(
    () => findOffBranchRows(hasNewer ? [...rows, ...newest] : rows),
    [rows, newest, hasNewer],
  );
  // At the very top a wrong height estimate of the first row cannot be scrolled away: it is measured early.
  const alwaysMounted = useMemo(() => (focused > 0 ? [0, focused] : [0]), [focused]);
  const isOlderInFront = useIsInFront(items);
  const unseen = useUnseen(items, isScrolledUp);

  const toEnd = useCallback((): void => {
    const element = scroller.current;
    if (element !== null) element.scrollTop = element.scrollHeight;
  }, []);
  useScrollPosition(log, left, remembersPlace, { scroller, list, follow, folding, openRows: openIds });
  useLayoutEffect(() => {
    if (follow.isFollowing) toEnd();
  }, [items, follow, toEnd]);
  useEffect(() => {
    const inner = scroller.current?.firstElementChild;
    if (!inner) return;
    // Rows are measured after rendering, and answers grow: the end moves without a new row.
    const observer = new ResizeObserver(() => follow.isFollowing && toEnd());
    observer.observe(inner);
    return () => observer.disconnect();
  }, [follow, toEnd]);
  useEffect(() => {
    if (target !== undefined || sends === 0) return;
    log.toEnd();
    follow.resume();
    toEnd();
  }, [sends, log, follow, toEnd, target]);

  const askForMore = useCallback((): void => {
    const element = scroller.current;
    if (element === null || !isPlaced.current) return;
    const { scrollTop, scrollHeight, clientHeight } = element;
    if (scrollTop < aheadOfTop) void log.loadOlder();
    if (scrollHeight - clientHeight - scrollTop < aheadOfTop) void log.loadNewer();
  }, [log]);
  const onScroll = useCallback((): void => {
    const element = scroller.current;
    if (element === null) return;
    follow.scrolled({
      offset: element.scrollTop,
      viewport: element.clientHeight,
      whole: element.scrollHeight,
    });
    // A window of the past does not end at the end of the log.
    if (log.view.snapshot().hasNewer) follow.pause();
    setIsScrolledUp(!follow.isFollowing);
    askForMore();
  }, [follow, log, askForMore]);
  useEffect(() => {
    // A short page may not fill the screen, and then no scroll event would load more.
    askForMore();
  }, [hasOlder, hasNewer, items, askForMore]);
  const evictFarRows = useCallback(
    (isStill: boolean): void => {
      const handle = list.current;
      if (handle === null || rows.length <= maxRows) return;
      void import("./far-rows.ts").then((far) => {
        const isAsShown = log.view.snapshot().rows === rows;
        const isOpen = (turn: Turn): boolean => folding.isOpen(turn);
        // A scroll event that the list has not received yet.
        const isKnown = Math.abs((scroller.current?.scrollTop ?? 0) - handle.scrollOffset) <= 1;
        if (isAsShown) far.evictFarRows(log, handle, { items, turns, isOpen }, isStill && isKnown);
      });
    },
    [log, rows, items, turns, folding],
  );
  useEffect(() => evictFarRows(false), [evictFarRows]);
  const targetIndex = items.findIndex(
    (item) =>
      item.key === targetRow || (item.type === "group" && item.rows.some(({ id }) => id === targetRow)),
  );
  const pauseFollowing = useCallback((): void => {
    follow.pause();
    onScroll();
  }, [follow, onScroll]);

  const toggle = useCallback((id: string): void => {
    setOpenIds((before) =>
      before.has(id) ? new Set([...before].filter((other) => other !== id)) : new Set([...before, id]),
    );
  }, []);
  const toggleTurn = useCallback(
    (turn: Turn): void => {
      follow.pause();
      folding.toggle(turn);
      setFolds((count) => count + 1);
    },
    [follow, folding],
  );
  const context = useMemo<RowContext>(
    () => ({
      conversationId: log.id,
      folder: state.workingDir,
      isRunning: state.status === "running",
      progress: log.progress,
      onToggle: toggle,
      onMenu: menu,
      thread: threadParts.drawThread,
    }),
    [state.workingDir, state.status, log, toggle, menu],
  );

  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>): void => {
    if (event.key === "ArrowUp" || event.key === "Home") pauseFollowing();
    const step = { j: 1, PageDown: 1, k: -1, PageUp: -1 }[event.key];
    if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    follow.pause();
    const from = focused < 0 ? items.length : focused;
    const next = Math.max(0, Math.min(items.length - 1, from + step));
    setFocused(next);
    list.current?.scrollToIndex(next, { align: "nearest" });
    requestAnimationFrame(() =>
      scroller.current?.querySelector<HTMLElement>(`[data-index="${next}"]`)?.focus(),
    );
  };

  const isRunning = state.status === "running";
  const setSize = hasOlder ? -1 : items.length + (isRunning ? 1 : 0);
  const now = {
    role: "article",
    "aria-label": liveWords.working,
    "aria-posinset": items.length + 1,
    "aria-setsize": setSize,
  };
  return (
    <div className="relative min-h-0 grow">
      <div
        ref={scroller}
        role="feed"
        aria-label={words.label}
        aria-busy={isRunning}
        tabIndex={0}
        onScroll={onScroll}
        onWheel={(event) => event.deltaY < 0 && pauseFollowing()}
        onTouchMove={pauseFollowing}
        onKeyDown={onKeyDown}
        className="h-full overflow-y-auto bg-canvas [overflow-anchor:none]"
      >
        <div className="mx-auto w-full max-w-[52rem] px-5 pb-2 max-[720px]:px-3">
          <Virtualizer
            as={ListFrame}
            ref={list}
            scrollRef={scroller}
            data={items}
            shift={isOlderInFront}
            bufferSize={400}
            {...(left === null ? {} : { cache: left.sizes })}
            keepMounted={alwaysMounted}
            onScrollEnd={() => evictFarRows(true)}
          >
            {(item: Item, index: number) => (
              <article
                key={item.key}
                data-index={index}
                tabIndex={-1}
                aria-posinset={index + 1}
                aria-setsize={setSize}
                aria-label={nameOfItem(item)}
                aria-current={index === targetIndex ? "location" : undefined}
                onFocus={() => setFocused(index)}
                className={`rounded-md aria-[current]:bg-warn-wash ${item.type === "row" && leftBranches.has(item.row.id) ? "opacity-60" : ""}`}
              >
                <ItemView item={item} openIds={openIds} context={context} onToggleTurn={toggleTurn} />
              </article>
            )}
          </Virtualizer>
          {/* Outside of the list, which would measure, render and scroll in separate frames each time it grows. */}
          <div {...(isRunning && now)}>
            <ErrorBoundary versions={[newest]}>
              <LiveView live={log.live} state={state} />
            </ErrorBoundary>
          </div>
        </div>
      </div>
      {target !== undefined && (
        <target.ScrollToRow
          list={list}
          scroller={scroller}
          index={targetIndex}
          place={targetRow}
          onPlaced={() => {
            isPlaced.current = true;
            onScroll();
          }}
        />
      )}
      {isScrolledUp && (
        <div className="pointer-events-none absolute inset-x-0 bottom-2 flex justify-center">
          <Button
            className="pointer-events-auto rounded-full shadow-md"
            onClick={() => {
              if (hasNewer && target !== undefined) return target.onNow();
              log.toEnd();
              follow.resume();
              setIsScrolledUp(false);
              toEnd();
            }}
          >
            <ArrowDown size={13} />
            {hasNewer ? words.toNow : unseen > 0 ? words.unseen(unseen) : words.toEnd}
          </Button>
        </div>
      )}
    </div>
  );
}

type ItemViewProps = {
  readonly item: Item;
  readonly openIds: ReadonlySet<string>;
  readonly context: RowContext;
  readonly onToggleTurn: (turn: Turn) => void;
};

function ItemView({ item, openIds, context, onToggleTurn }: ItemViewProps) {
  switch (item.type) {
    case "row":
      return <RowView row={item.row} isOpen={openIds.has(item.row.id)} context={context} />;
    case "group":
      return <GroupView id={item.key} rows={item.rows} openIds={openIds} context={context} />;
    case "turn":
      return <TurnLine turn={item.turn} isOpen={item.isOpen} onToggle={onToggleTurn} />;
  }
}

/** Whether the last change prepended or removed items: then the list keeps its offset from the end. */
function useIsInFront(items: readonly Item[]): boolean {
  const [known, setKnown] = useState({ items, isInFront: false });
  if (known.items === items) return known.isInFront;
  const [first] = known.items;
  const isInFront =
    first !== undefined &&
    items[0]?.key !== first.key &&
    (items.some(({ key }) => key === first.key) || known.items.some(({ key }) => key === items[0]?.key));
  // React renders again at once; the list never gets the new items with the old value.
  setKnown({ items, isInFront });
  return isInFront;
}

/** Rows added since the user scrolled away from the end. */
function useUnseen(items: readonly Item[], isScrolledUp: boolean): number {
  const [last, setLast] = useState<string | null>(null);
  const newest = items.at(-1)?.key ?? null;
  useEffect(() => {
    if (!isScrolledUp) setLast(newest);
  }, [isScrolledUp, newest]);
  if (!isScrolledUp || last === null) return 0;
  const at = items.findLastIndex(({ key }) => key === last);
  return at < 0 ? 0 : items.length - 1 - at;
}
