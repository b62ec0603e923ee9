import type { MetricsSnapshot, TokenUsage } from "@convoke/protocol";
import type { EventDraft } from "../../events/event-draft.ts";
import { stateUpdate } from "../../events/state-update.ts";
import { isObject } from "../../lib/json-object.ts";
import { costIn, countIn } from "../../models/answer-values.ts";
import type { Cost } from "./turn-mapping.ts";

/** Under which the usage of the other agent is counted. */
const usageId = "acp";

type Stats = Readonly<Record<string, unknown>>;

/** What the agent says about its session so far; its cost stays 0 where it does not say. Null: nothing is new. */
export function costUpdate(stats: Stats, { size, usd, used }: Cost, model: string): EventDraft | null {
  const before = snapshotOf(stats, model);
  const tokens = before.accumulated_token_usage!;
  const cost = Math.max(before.accumulated_cost ?? 0, costIn(usd) ?? 0);
  const [context_window, per_turn_token] = [countIn(size), countIn(used)];
  if (tokens.per_turn_token === per_turn_token && before.accumulated_cost === cost) return null;
  const usage = { ...tokens, context_window, per_turn_token };
  return statsUpdate(stats, { ...before, accumulated_cost: cost, accumulated_token_usage: usage });
}

/** The tokens that an agent counts for one prompt; null where it counts none. */
export function tokenUpdate(stats: Stats, usage: unknown, model: string): EventDraft | null {
  if (!isObject(usage)) return null;
  const before = snapshotOf(stats, model);
  const tokens = before.accumulated_token_usage!;
  const sum = (name: string, so: number | undefined): number => (so ?? 0) + countIn(usage[name]);
  const after: TokenUsage = {
    ...tokens,
    prompt_tokens: sum("inputTokens", tokens.prompt_tokens),
    completion_tokens: sum("outputTokens", tokens.completion_tokens),
    cache_read_tokens: sum("cachedReadTokens", tokens.cache_read_tokens),
    cache_write_tokens: sum("cachedWriteTokens", tokens.cache_write_tokens),
    reasoning_tokens: sum("thoughtTokens", tokens.reasoning_tokens),
  };
  return statsUpdate(stats, { ...before, accumulated_token_usage: after });
}

function snapshotOf(stats: Stats, model: string): MetricsSnapshot {
  const before = stats[usageId] as MetricsSnapshot | undefined;
  const none: TokenUsage = {
    model,
    prompt_tokens: 0,
    completion_tokens: 0,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    reasoning_tokens: 0,
    context_window: 0,
    per_turn_token: 0,
    response_id: "",
  };
  return {
    model_name: model,
    accumulated_cost: before?.accumulated_cost ?? 0,
    max_budget_per_task: null,
    accumulated_token_usage: before?.accumulated_token_usage ?? none,
  };
}

function statsUpdate(stats: Stats, snapshot: MetricsSnapshot): EventDraft {
  return stateUpdate("stats", { usage_to_metrics: { ...stats, [usageId]: snapshot } });
}
