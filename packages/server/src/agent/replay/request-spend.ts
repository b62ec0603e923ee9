import type { EventContext, MetricsSnapshot } from "@convoke/protocol";
import type { SeqRange } from "../../events/event-draft.ts";
import type { ViewEvent } from "../history-view.ts";
import type { BranchReader } from "./branch-reader.ts";

/** What the log says that a request has cost, with the attempts before it that failed. */
export type RequestSpend = Pick<
  EventContext,
  "cost" | "completion_tokens" | "cached_tokens" | "context_window"
>;

export const noSpend: RequestSpend = {
  cost: null,
  completion_tokens: null,
  cached_tokens: null,
  context_window: null,
};

type Stats = Readonly<Record<string, MetricsSnapshot | undefined>>;

/** The totals come right behind what came of a request, in the same commit. */
const behind = 64;

/** Each published total less the one before it is one request (P48). Nothing where the log has none. */
export async function readSpend(reader: BranchReader, seq: number): Promise<RequestSpend> {
  const kinds = ["ConversationStateUpdateEvent"];
  const after = (await reader.read(kinds, [[seq, seq + behind]]))
    .map(statsOf)
    .find((stats) => stats !== null);
  if (after === undefined) return noSpend;
  const before = await statsBefore(reader, kinds, seq);
  let spend = { ...noSpend, cost: 0, completion_tokens: 0, cached_tokens: 0 };
  for (const [usageId, metrics] of Object.entries(after)) {
    const [now, then] = [metrics?.accumulated_token_usage, before[usageId]?.accumulated_token_usage];
    const cost = (metrics?.accumulated_cost ?? 0) - (before[usageId]?.accumulated_cost ?? 0);
    const written = (now?.completion_tokens ?? 0) - (then?.completion_tokens ?? 0);
    if (cost === 0 && written === 0) continue;
    spend = {
      cost: spend.cost + cost,
      completion_tokens: spend.completion_tokens + written,
      cached_tokens: spend.cached_tokens + (now?.cache_read_tokens ?? 0) - (then?.cache_read_tokens ?? 0),
      context_window: now?.context_window || spend.context_window,
    };
  }
  return spend;
}

async function statsBefore(reader: BranchReader, kinds: readonly string[], seq: number): Promise<Stats> {
  const earlier: readonly SeqRange[] = [[1, seq - 1]];
  for await (const item of reader.back(kinds, earlier)) {
    const stats = statsOf(item);
    if (stats !== null) return stats;
  }
  return {};
}

function statsOf({ event }: ViewEvent): Stats | null {
  if (event.kind !== "ConversationStateUpdateEvent" || event.key !== "stats") return null;
  return (event.value as { usage_to_metrics?: Stats } | null)?.usage_to_metrics ?? null;
}
