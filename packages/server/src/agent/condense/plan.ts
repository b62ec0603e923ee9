import { idInLog, type ViewEvent } from "../history-view.ts";
import { blocksOf, type Block } from "./blocks.ts";

/** What a condensation forgets, and where its summary goes in what remains. */
export type CondensationPlan = {
  /** In the order of the view; without an earlier summary. */
  readonly forgotten: readonly ViewEvent[];
  readonly forgottenIds: readonly string[];
  readonly offset: number;
  /** It is forgotten too: its text is input of the new summary, which replaces it. */
  readonly previousSummary: string | null;
};

export type PlanLimits = {
  /** The number of events at the beginning that always stay. */
  readonly keepFirst: number;
  /** The newest events stay up to so many events and tokens; whole blocks only. */
  readonly tailEvents: number;
  readonly tailTokens: number;
  readonly tokensOf: (events: readonly ViewEvent[]) => number;
};

/** Chooses what to forget from a condensed view; null when nothing may be forgotten. Blocks are never split. */
export function planCondensation(
  view: readonly ViewEvent[],
  { keepFirst, tailEvents, tailTokens, tokensOf }: PlanLimits,
): CondensationPlan | null {
  const first = new Set(view.slice(0, keepFirst));
  const blocks = blocksOf(view);
  const tail = tailOf(blocks, { tailEvents, tailTokens, tokensOf });
  const isRemaining = (block: Block): boolean =>
    block.isPinned || tail.has(block) || (!block.isSummary && block.events.some((item) => first.has(item)));
  const leaving = blocks.filter((block) => !isRemaining(block));
  if (leaving.every((block) => block.isSummary)) return null;
  return planOf(
    view,
    leaving.flatMap((block) => block.events.map(({ event }) => idInLog(event))),
  );
}

/** The plan that forgets exactly these events of a condensed view. */
export function planOf(view: readonly ViewEvent[], forgottenIds: readonly string[]): CondensationPlan {
  const ids = new Set(forgottenIds);
  const isLeaving = ({ event }: ViewEvent): boolean => ids.has(event.id!) || ids.has(idInLog(event));
  const leaving = view.filter(isLeaving);
  const isSummary = ({ event }: ViewEvent): boolean => event.kind === "CondensationSummaryEvent";
  const summary = leaving.find(isSummary)?.event;
  return {
    forgotten: leaving.filter((item) => !isSummary(item)),
    forgottenIds: leaving.map(({ event }) => idInLog(event)),
    offset: view.findIndex(isLeaving),
    previousSummary: summary?.kind === "CondensationSummaryEvent" ? summary.summary : null,
  };
}

/** The newest blocks that fit. A block that does not fit ends the tail: behind a gap the rest would make no sense. */
function tailOf(
  blocks: readonly Block[],
  { tailEvents, tailTokens, tokensOf }: Omit<PlanLimits, "keepFirst">,
): ReadonlySet<Block> {
  const tail = new Set<Block>();
  let events = 0;
  let tokens = 0;
  for (const block of blocks.toReversed()) {
    if (block.isSummary) break;
    // Pinned ones stay anyway; they take no room from the others.
    if (block.isPinned) continue;
    events += block.events.length;
    tokens += tokensOf(block.events);
    if (events > tailEvents || tokens > tailTokens) break;
    tail.add(block);
  }
  return tail;
}
