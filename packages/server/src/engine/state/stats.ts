import type { LLM, MetricsSnapshot, TokenUsage } from "@convoke/protocol";
import type { EventDraft } from "../../events/event-draft.ts";
import type { SpentAttempt } from "../../models/model.ts";
import { stateUpdate } from "../../events/state-update.ts";

/** The `stats` update after model calls, the newest last: accumulated tokens and US dollars per usage id. */
export function addCalls(
  stats: Readonly<Record<string, unknown>>,
  llm: LLM,
  calls: readonly SpentAttempt[],
): EventDraft {
  const usageId = llm.usage_id ?? "default";
  const before = stats[usageId] as MetricsSnapshot | undefined;
  const snapshot = calls.reduce((sum, call) => withAttempt(sum, llm, call), before);
  return stateUpdate("stats", { usage_to_metrics: { ...stats, [usageId]: snapshot } });
}

function withAttempt(
  before: MetricsSnapshot | undefined,
  llm: LLM,
  { id, model, usage }: SpentAttempt,
): MetricsSnapshot {
  const spent = before?.accumulated_token_usage;
  const accumulated: TokenUsage = {
    model,
    prompt_tokens: (spent?.prompt_tokens ?? 0) + usage.promptTokens,
    completion_tokens: (spent?.completion_tokens ?? 0) + usage.completionTokens,
    cache_read_tokens: (spent?.cache_read_tokens ?? 0) + usage.cacheReadTokens,
    cache_write_tokens: (spent?.cache_write_tokens ?? 0) + usage.cacheWriteTokens,
    reasoning_tokens: (spent?.reasoning_tokens ?? 0) + usage.reasoningTokens,
    context_window: Math.max(spent?.context_window ?? 0, usage.contextWindow),
    per_turn_token: usage.promptTokens + usage.completionTokens,
    response_id: id,
  };
  return {
    model_name: llm.model ?? model,
    accumulated_cost: (before?.accumulated_cost ?? 0) + (usage.cost ?? 0),
    max_budget_per_task: null,
    accumulated_token_usage: accumulated,
  };
}
