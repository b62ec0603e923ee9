import type { Landmarks } from "@convoke/protocol";
import { useMemo, type PointerEvent } from "react";
import { shownCost, shownPercent } from "../lib/shown-numbers.ts";
import { useServices } from "../services/services.ts";
import { useMoreWords } from "../words/words.ts";

type SpentAt = Landmarks["spent"][number];

/** Maximum number of points; more than pixels show nothing new. */
const maxDrawn = 600;

/** The cost at a position, as of the newest point before it; null before the first. */
export function spentAt(spent: readonly SpentAt[], position: number): SpentAt | null {
  let [start, end] = [0, spent.length];
  while (start < end) {
    const middle = (start + end) >> 1;
    if (spent[middle]!.position <= position) start = middle + 1;
    else end = middle;
  }
  return spent[start - 1] ?? null;
}

/**
 * Two lines in a box of height 1 over the positions 1 to `length`: the cost as a share of the maximum, and the used
 * share of the context.
 */
export function linesOf(
  spent: readonly SpentAt[],
  length: number,
): { readonly cost: string; readonly context: string } {
  const step = Math.max(1, Math.ceil(length / maxDrawn));
  const drawn = spent.filter(
    ({ position }, index) =>
      Math.floor(position / step) !== Math.floor((spent[index + 1]?.position ?? Infinity) / step),
  );
  const maxCost = Math.max(...drawn.map(({ cost }) => cost), Number.MIN_VALUE);
  let cost = "M0 1";
  let context = "";
  for (const [index, point] of drawn.entries()) {
    const end = (drawn[index + 1]?.position ?? length) - 1;
    cost += `H${point.position - 1}V${heightOf(point.cost / maxCost)}`;
    if (point.context === null) continue;
    const isBroken = (drawn[index - 1]?.context ?? null) === null;
    context += `${isBroken ? `M${point.position - 1} ` : "V"}${heightOf(point.context)}H${end}`;
  }
  return { cost: `${cost}H${length - 1}V1Z`, context };
}

function heightOf(share: number): number {
  return Number((1 - Math.min(1, share)).toFixed(3));
}

type ScrubberSpentProps = {
  readonly spent: readonly SpentAt[];
  readonly length: number;
  readonly hand: number;
  readonly goTo: (position: number) => void;
};

/** A chart below the slider: cost and used context. A click moves the slider. */
export function ScrubberSpent({ spent, length, hand, goTo }: ScrubberSpentProps) {
  const words = useMoreWords().past;
  const lines = useMemo(() => linesOf(spent, length), [spent, length]);
  const label = useMemo(() => {
    const contexts = spent.map(({ context }) => context ?? 0);
    const cost = Math.max(...spent.map((point) => point.cost));
    return words.strip(shownCost(cost), Math.round(Math.max(...contexts) * 100));
  }, [spent, words]);
  const point = (event: PointerEvent<HTMLDivElement>): void => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    const share = Math.max(0, Math.min(1, (event.clientX - left) / width));
    goTo(Math.round(1 + share * (length - 1)));
  };
  return (
    <div
      role="img"
      aria-label={label}
      className="mx-2 mb-1 h-6 cursor-pointer touch-none"
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        point(event);
      }}
      onPointerMove={(event) => event.currentTarget.hasPointerCapture(event.pointerId) && point(event)}
    >
      <svg
        aria-hidden="true"
        viewBox={`0 0 ${Math.max(1, length - 1)} 1`}
        preserveAspectRatio="none"
        className="size-full overflow-visible"
      >
        <path data-line="cost" d={lines.cost} className="fill-edge opacity-50" />
        <path
          data-line="context"
          d={lines.context}
          className="fill-none stroke-accent"
          strokeWidth={1.5}
          vectorEffect="non-scaling-stroke"
        />
        <path
          d={`M${hand - 1} 0V1`}
          className="stroke-ink"
          strokeWidth={1}
          vectorEffect="non-scaling-stroke"
        />
      </svg>
    </div>
  );
}

/** The values at the pointer, and the legend of the two lines. */
export function SpentThere({ spent }: { readonly spent: SpentAt }) {
  const words = useMoreWords().meter;
  const { language } = useServices();
  return (
    <span className="flex items-center gap-1.5 text-faint">
      <span aria-hidden="true" className="size-2 bg-edge opacity-50" />
      <span className="sr-only">{words.costLabel}</span>
      {shownCost(spent.cost)}
      {spent.context !== null && (
        <>
          <span aria-hidden="true" className="h-0.5 w-2 bg-accent" />
          <span className="sr-only">{words.contextLabel}</span>
          {shownPercent(spent.context, language)}
        </>
      )}
    </span>
  );
}
