import { useMemo, type PointerEvent } from "react";
import { shownCost, shownPercent } from "@convoke/client/view";
import { useServices } from "../services/services.ts";
import { useMoreWords } from "../words/words.ts";
import { linesOf, type SpentAt } from "./spent-lines.ts";

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
