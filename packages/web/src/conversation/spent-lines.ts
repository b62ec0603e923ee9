import type { Landmarks } from "@convoke/protocol";

export type SpentAt = Landmarks["spent"][number];

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
