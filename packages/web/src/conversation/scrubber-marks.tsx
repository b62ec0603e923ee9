import type { Landmarks } from "@convoke/protocol";

/** Sorts of marks, what matters most last: it is drawn over the others. */
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

/** What is marked at a position; null where nothing is. */
export function markAt(landmarks: Landmarks | null, position: number): MarkSort | null {
  return sorts.findLast((sort) => landmarks?.[sort].includes(position)) ?? null;
}

/** The next mark behind a position, or before it; null where there is none. */
export function nextMark(landmarks: Landmarks | null, position: number, isForward: boolean): number | null {
  if (landmarks === null) return null;
  const places = sorts.flatMap((sort) => landmarks[sort]);
  return isForward
    ? places.reduce<number | null>((best, at) => (at > position && at < (best ?? Infinity) ? at : best), null)
    : places.reduce<number | null>((best, at) => (at < position && at > (best ?? 0) ? at : best), null);
}

/** Below a slider from 1 to `length`, each mark where the middle of its thumb would stand. The slider's own text says the same. */
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
