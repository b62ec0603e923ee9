import type { SeqRange } from "../events/event-draft.ts";
import type { ViewEvent } from "./history-view.ts";

/**
 * A navigation: its position in the log, and the position that the conversation continued from (0: the beginning). In an imported log it
 * stands half a place before the event that continued elsewhere, because no event of the source stands for it.
 */
export type Navigation = readonly [seq: number, toSeq: number];

/** The branch that ends at `seq`: the positions that lead there from the beginning, ascending. A navigation itself is on no branch. */
export function pathTo(navigations: readonly Navigation[], seq: number): SeqRange[] {
  const ranges: SeqRange[] = [];
  let end = seq;
  for (const [at, toSeq] of navigations.toReversed()) {
    if (at > end) continue;
    if (at < end) ranges.push([Math.floor(at) + 1, end]);
    end = toSeq;
  }
  if (end > 0) ranges.push([1, end]);
  return ranges.toReversed();
}

export function isOnPath(path: readonly SeqRange[], seq: number): boolean {
  return path.some(([from, to]) => from <= seq && seq <= to);
}

/** What two lists of ascending ranges have in common. */
export function commonRanges(left: readonly SeqRange[], right: readonly SeqRange[]): SeqRange[] {
  return left.flatMap(([from, to]) =>
    right
      .map(([otherFrom, otherTo]): SeqRange => [Math.max(from, otherFrom), Math.min(to, otherTo)])
      .filter(([start, end]) => start <= end),
  );
}

/** The navigations in a log, oldest first. */
export function navigationsIn(log: readonly ViewEvent[]): Navigation[] {
  return log.flatMap(({ seq, meta }) =>
    meta.navigation === undefined
      ? []
      : [...(meta.navigation.jumps ?? []), [seq, meta.navigation.toSeq] as const],
  );
}
