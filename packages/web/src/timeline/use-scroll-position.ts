import { useLayoutEffect, useRef, useState, type RefObject } from "react";
import type { VirtualizerHandle } from "virtua";
import type { OpenLog } from "../log/open-log.ts";
import type { ScrollPosition } from "../log/scroll-position.ts";
import type { FollowEnd } from "./follow-end.ts";
import type { TurnFolding } from "./turn-folding.ts";

/** The saved scroll position if it still applies; null for a log that was never shown. */
export function useSavedScroll(log: OpenLog, remembersPlace: boolean): ScrollPosition | null {
  const [left] = useState(() => {
    const { place } = log;
    return remembersPlace && place?.firstRow === firstRowOf(log) ? place : null;
  });
  return left;
}

export type ScrolledParts = {
  readonly scroller: RefObject<HTMLElement | null>;
  readonly list: RefObject<VirtualizerHandle | null>;
  readonly follow: FollowEnd;
  readonly folding: TurnFolding;
  readonly openRows: ReadonlySet<string>;
};

/** Restores the scroll position, and saves it on unmount. */
export function useScrollPosition(
  log: OpenLog,
  left: ScrollPosition | null,
  remembersPlace: boolean,
  parts: ScrolledParts,
): void {
  const latest = useRef(parts);
  useLayoutEffect(() => {
    latest.current = parts;
  });
  useLayoutEffect(() => {
    const { scroller, follow } = latest.current;
    if (left !== null && !follow.isFollowing && scroller.current !== null)
      scroller.current.scrollTop = left.offset;
    return () => {
      const { scroller, list, follow, folding, openRows } = latest.current;
      const firstRow = firstRowOf(log);
      if (!remembersPlace || firstRow === undefined || scroller.current === null || list.current === null)
        return;
      log.leave({
        firstRow,
        isFollowing: follow.isFollowing,
        offset: scroller.current.scrollTop,
        sizes: list.current.cache,
        openRows,
        openTurns: folding.turns,
      });
    };
  }, [log, left, remembersPlace]);
}

function firstRowOf(log: OpenLog): string | undefined {
  return log.view.snapshot().rows[0]?.id;
}
