import type { ConversationView } from "./conversation-view.ts";

/** What the model calls of a conversation have cost. */
export type Spend = {
  /** US dollars. */
  readonly cost: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Tokens of the newest call of the agent's own model, and how many it can take; 0 when unknown. */
  readonly contextTokens: number;
  readonly contextWindow: number;
};

/** Sums the metrics of all usages; the context is that of the agent's own, because titles and summaries are asked beside it. */
export function spendOf({ stats }: Pick<ConversationView, "stats">): Spend {
  const all = Object.entries(stats);
  const total = { cost: 0, promptTokens: 0, completionTokens: 0, contextTokens: 0, contextWindow: 0 };
  for (const [usageId, metrics] of all) {
    const { accumulated_cost: cost, accumulated_token_usage: usage } = metrics ?? {};
    total.cost += cost ?? 0;
    total.promptTokens += usage?.prompt_tokens ?? 0;
    total.completionTokens += usage?.completion_tokens ?? 0;
    if (usageId !== "agent" && all.length > 1 && total.contextTokens > 0) continue;
    total.contextTokens = usage?.per_turn_token ?? 0;
    total.contextWindow = usage?.context_window ?? 0;
  }
  return total;
}
