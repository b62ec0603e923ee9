import type { MetricsSnapshot } from "@convoke/protocol";
import type { ConversationConfig } from "./conversation-config.ts";
import type { ConversationState } from "./conversation-state.ts";

/** US dollars that all model calls of the conversation cost, helpers, condensing and retries that were billed included. */
export function spentOf(state: Readonly<ConversationState>): number {
  return (Object.values(state.stats) as MetricsSnapshot[]).reduce(
    (sum, { accumulated_cost: cost }) => sum + (cost ?? 0),
    0,
  );
}

/** Says that the conversation's own budget is used up; null while it is not (P48: at most one call over it). */
export function overOwnBudget(config: ConversationConfig, state: Readonly<ConversationState>): string | null {
  const limit = config.max_budget_per_task ?? null;
  if (limit === null) return null;
  const spent = spentOf(state);
  return spent < limit
    ? null
    : `The conversation has cost ${dollars(spent)}, its budget is ${dollars(limit)}. Raise the budget, then call run to go on.`;
}

export function dollars(amount: number): string {
  return `$${amount.toFixed(4)}`;
}
