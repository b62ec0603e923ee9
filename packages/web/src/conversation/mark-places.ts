import type { Landmarks } from "@convoke/protocol";

/** Types of marks, most important last: it is drawn on top. */
export const sorts = ["turns", "tasks", "branches", "condensations", "rejected", "errors"] as const;
export type MarkSort = (typeof sorts)[number];

/** The marks at a position; null if there are none. */
export function markAt(landmarks: Landmarks | null, position: number): MarkSort | null {
  return sorts.findLast((sort) => landmarks?.[sort].includes(position)) ?? null;
}

/** The next or previous mark; null if there is none. */
export function nextMark(landmarks: Landmarks | null, position: number, isForward: boolean): number | null {
  if (landmarks === null) return null;
  const places = sorts.flatMap((sort) => landmarks[sort]);
  return isForward
    ? places.reduce<number | null>((best, at) => (at > position && at < (best ?? Infinity) ? at : best), null)
    : places.reduce<number | null>((best, at) => (at < position && at > (best ?? 0) ? at : best), null);
}
