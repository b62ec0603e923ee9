import type { Landmarks } from "@convoke/protocol";

/** Types of marks, most important last: it is drawn on top. */
const sorts = ["turns", "tasks", "branches", "condensations", "rejected", "errors"] as const;
export type MarkSort = (typeof sorts)[number];

const colours: Readonly<Record<MarkSort, string>> = {
  turns: "stroke-edge",
  tasks: "stroke-good",
  branches: "stroke-ink",
  condensations: "stroke-accent",
  rejected: "stroke-warn",
  errors: "stroke-bad",
};

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

/**
 * Marks below a slider from 1 to `length`, each at the centre of the thumb's position. The slider's own text says
 * the same.
 */
export function ScrubberMarks({
  landmarks,
  length,
}: {
  readonly landmarks: Landmarks;
  readonly length: number;
}) {
  return (
    <svg
      aria-hidden="true"
      viewBox={`0 0 ${Math.max(1, length - 1)} 1`}
      preserveAspectRatio="none"
      className="pointer-events-none absolute inset-x-2 bottom-0 h-1.5 w-[calc(100%-1rem)] overflow-visible"
    >
      {sorts.map((sort) => (
        <path
          key={sort}
          data-sort={sort}
          d={landmarks[sort]
            .filter((at) => at <= length)
            .map((at) => `M${at - 1} 0V1`)
            .join("")}
          className={colours[sort]}
          strokeWidth={2}
          vectorEffect="non-scaling-stroke"
        />
      ))}
    </svg>
  );
}
