import type { Landmarks } from "@convoke/protocol";
import { sorts, type MarkSort } from "./mark-places.ts";

const colours: Readonly<Record<MarkSort, string>> = {
  turns: "stroke-edge",
  tasks: "stroke-good",
  branches: "stroke-ink",
  condensations: "stroke-accent",
  rejected: "stroke-warn",
  errors: "stroke-bad",
};

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
