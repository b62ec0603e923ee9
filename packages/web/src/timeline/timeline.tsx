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
import { foldTurns, type Turn } from "../folds/fold-turns.ts";
import type { Row } from "../folds/row.ts";
import { findOffBranchRows } from "../folds/off-branch-rows.ts";
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

/** How far from the top older rows are asked for, in pixels. */
const aheadOfTop = 2_000;

/** A row to show and to mark, who brings it to the middle of the screen, and the way back. */
export type Target = {
  readonly rowOf: (rows: readonly Row[]) => string | null;
  readonly ScrollToRow: ComponentType<PlaceProps>;
  readonly onNow: () => void;
};
export type PlaceProps = {
  readonly list: RefObject<VirtualizerHandle | null>;
  readonly scroller: RefObject<HTMLElement | null>;
  /** Of the item in the list; -1 for none. */
  readonly index: number;
  /** Another one is another place to go to. */
  readonly place: string | null;
  readonly onPlaced: () => void;
};

export type TimelineProps = {
  readonly log: OpenLog;
  /** Null where nothing can be done from a row. */
  readonly menu: RowMenu | null;
  /** Grows with each message that is sent: the view goes to the end then. */
  readonly sends: number;
  /** Where a window of the log begins to be read; none at the end of the log. */
  readonly target?: Target;
};

/** The conversation from its beginning to now, drawn as far as it is on the screen. */
export function Timeline({ log, menu, sends, target }: TimelineProps) {
  const { timeline: words, live: liveWords } = useWords();
  const { rows, newest, state, hasOlder, hasNewer } = useStore(log.view);
  const scroller = useRef<HTMLDivElement>(null);
  const list = useRef<VirtualizerHandle>(null);
  // A window around a place is read for that place: how it was left is not kept.
  const remembersPlace = target === undefined;
  const left = useSavedScroll(log, remembersPlace);
  const [follow] = useState(() => new FollowEnd(left?.isFollowing ?? remembersPlace));
  const [folding] = useState(() => new TurnFolding(left?.openTurns));
  const [openIds, setOpenIds] = useState<ReadonlySet<string>>(left?.openRows ?? new Set());
  const [folds, setFolds] = useState(0);
  const [isScrolledUp, setIsScrolledUp] = useState(!follow.isFollowing && remembersPlace);
  const [focused, setFocused] = useState(-1);
  /** Before the list stands where it was told to, being near an end of it asks for nothing. */
  const isPlaced = useRef(target === undefined);

  const turns = useMemo(() => foldTurns(rows), [rows]);
  const targetRow = target?.rowOf(rows) ?? null;
  const items = useMemo(() => {
    folding.see(turns, targetRow);
    return itemsOf(turns, (turn) => folding.isOpen(turn));
    // `folds` counts what the reader folded and opened.
    // eslint-disable-next-line react/exhaustive-deps
  }, [turns, folding, folds, targetRow]);
  const leftBranches = useMemo(
    () => findOffBranchRows(hasNewer ? [...rows, ...newest] : rows),
    [rows, newest, hasNewer],
  );
  // At the very top nothing is left to scroll by when the first row turns out smaller than it was taken for: it is measured early.
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
    // Rows are measured after they are drawn, and an answer grows: the end moves without a new row.
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
    // The end of a window is not the end of the log.
    if (log.view.snapshot().hasNewer) follow.pause();
    setIsScrolledUp(!follow.isFollowing);
    askForMore();
  }, [follow, log, askForMore]);
  useEffect(() => {
    // A short page may not fill the screen: then nobody can scroll to ask for more.
    askForMore();
  }, [hasOlder, hasNewer, items, askForMore]);
  const evictFarRows = useCallback(
    (isStill: boolean): void => {
      const handle = list.current;
      if (handle === null || rows.length <= maxRows) return;
      void import("./far-rows.ts").then((far) => {
        const isAsShown = log.view.snapshot().rows === rows;
        const isOpen = (turn: Turn): boolean => folding.isOpen(turn);
        // A scroll that the list was not told of yet.
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
          {/* Outside of the list, which would measure it, draw itself and scroll in frames of their own each time it grows. */}
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

/** Whether the newest change put items in front of those that were there, or took some away: then the list keeps its place from the end. */
function useIsInFront(items: readonly Item[]): boolean {
  const [known, setKnown] = useState({ items, isInFront: false });
  if (known.items === items) return known.isInFront;
  const [first] = known.items;
  const isInFront =
    first !== undefined &&
    items[0]?.key !== first.key &&
    (items.some(({ key }) => key === first.key) || known.items.some(({ key }) => key === items[0]?.key));
  // React draws at once with the new value; the list never sees the items with the old one.
  setKnown({ items, isInFront });
  return isInFront;
}

/** How many rows came behind the one that was the last when the reader went away from the end. */
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
