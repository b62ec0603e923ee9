import type { MetricsSnapshot } from "@convoke/protocol";
import type { ConversationConfig } from "./conversation-config.ts";
import type { ConversationState } from "./conversation-state.ts";

/** What a conversation may cost and has cost in US dollars, by its own log; the limit is null when it has none. */
export type OwnBudget = { readonly limit: number | null; readonly spent: number };

export function ownBudget(config: ConversationConfig, state: Readonly<ConversationState>): OwnBudget {
  return { limit: config.max_budget_per_task ?? null, spent: spentOf(state) };
}

/** US dollars that all model calls of the conversation cost, helpers, condensing and retries that were billed included. */
function spentOf(state: Readonly<ConversationState>): number {
  return (Object.values(state.stats) as MetricsSnapshot[]).reduce(
    (sum, { accumulated_cost: cost }) => sum + (cost ?? 0),
    0,
  );
}

export function dollars(amount: number): string {
  return `$${amount.toFixed(4)}`;
}
