import type { MetricsSnapshot } from "@convoke/protocol";
import type { OwnBudget } from "../spending/own-budget.ts";
import type { ConversationConfig } from "./conversation-config.ts";
import type { ConversationState } from "./state/conversation-state.ts";

export function ownBudget(config: ConversationConfig, state: Readonly<ConversationState>): OwnBudget {
  return { limit: config.max_budget_per_task ?? null, spent: spentOf(state) };
}

/** US dollars for all model calls of the conversation, including helpers, condensation and billed retries. */
function spentOf(state: Readonly<ConversationState>): number {
  return (Object.values(state.stats) as MetricsSnapshot[]).reduce(
    (sum, { accumulated_cost: cost }) => sum + (cost ?? 0),
    0,
  );
}
