import type { EventBody, SeqRange } from "../events/event-draft.ts";
import { commonRanges } from "./branches.ts";
import { condensedView, extendView, type ViewEvent } from "./history-view.ts";

/** With more ranges than this the whole view is read again. */
const maxRanges = 32;

/**
 * The parts of a view that are still needed behind a condensation at `seq`: what it leaves, and everything since the
 * model's last answer. `readFrom` are the ranges that the view was read from: events that an earlier condensation
 * removed in between stay out. Null when the ranges would not give the model exactly what the whole gives.
 */
export function remainingRanges(
  view: readonly ViewEvent[],
  condensation: EventBody,
  seq: number,
  readFrom: readonly SeqRange[],
): readonly SeqRange[] | null {
  const item = { seq, event: { ...condensation, id: "condensation" }, meta: {} } as ViewEvent;
  const whole = extendView(condensedView(view), [item]);
  const left = new Set(whole.map(({ event }) => event.id));
  const lastAnswer = view.findLastIndex(({ meta }) => meta.sawSeq !== undefined);
  const isRemaining = ({ event }: ViewEvent, index: number): boolean =>
    left.has(event.id) || index > lastAnswer;
  const rest = condensedView([...view.filter(isRemaining), item]);
  const isSame = rest.length === whole.length && whole.every((one, index) => isAlike(one, rest[index]!));
  if (!isSame) return null;
  const ranges: [number, number][] = [];
  for (const [index, one] of view.entries()) {
    if (!isRemaining(one, index)) continue;
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === view[index - 1]?.seq) last[1] = one.seq;
    else ranges.push([one.seq, one.seq]);
  }
  const exact = commonRanges(readFrom, ranges);
  return exact.length > maxRanges ? null : exact;
}

/** The same stored event; a repaired copy is none. Summaries are made again each time. */
function isAlike(left: ViewEvent, right: ViewEvent): boolean {
  const isSummary = left.event.kind === "CondensationSummaryEvent";
  return isSummary ? left.event.id === right.event.id : left.event === right.event;
}
