import { Type, type Static } from "typebox";
import { list, mapOf, object, orNull, ref } from "../schema.ts";

const tokens = Type.Optional(Type.Integer({ minimum: 0, default: 0 }));
const text = Type.Optional(Type.String({ default: "" }));

/** Token counts of one call, or the sum of many. */
export const TokenUsage = object("TokenUsage", {
  model: text,
  prompt_tokens: tokens,
  completion_tokens: tokens,
  cache_read_tokens: tokens,
  cache_write_tokens: tokens,
  reasoning_tokens: tokens,
  context_window: tokens,
  per_turn_token: tokens,
  response_id: text,
});
export type TokenUsage = Static<typeof TokenUsage>;

/** Cost of one call in US dollars; `timestamp` is in seconds since 1970. */
export const Cost = object("Cost", {
  model: Type.String(),
  cost: Type.Number({ minimum: 0 }),
  timestamp: Type.Optional(Type.Number()),
});
export type Cost = Static<typeof Cost>;

/** Duration of one call in seconds. */
export const ResponseLatency = object("ResponseLatency", {
  model: Type.String(),
  latency: Type.Number({ minimum: 0 }),
  response_id: Type.String(),
});
export type ResponseLatency = Static<typeof ResponseLatency>;

const totals = {
  model_name: Type.Optional(Type.String({ default: "default" })),
  accumulated_cost: Type.Optional(Type.Number({ minimum: 0, default: 0 })),
  max_budget_per_task: orNull(Type.Number()),
  accumulated_token_usage: orNull(ref(TokenUsage)),
};

/** Total spending, without the single calls. */
export const MetricsSnapshot = object("MetricsSnapshot", totals);
export type MetricsSnapshot = Static<typeof MetricsSnapshot>;

/** Total spending with the single calls. */
export const Metrics = object("Metrics", {
  ...totals,
  costs: list(ref(Cost)),
  response_latencies: list(ref(ResponseLatency)),
  token_usages: list(ref(TokenUsage)),
});
export type Metrics = Static<typeof Metrics>;

/** Spending by usage id. */
export const ConversationStatsInput = object("ConversationStats-Input", {
  usage_to_metrics: Type.Optional(mapOf(ref(Metrics), { impliedDefault: {} })),
});
export type ConversationStatsInput = Static<typeof ConversationStatsInput>;

/** The same in replies, where the contract leaves the shape open; this server writes {@link ConversationStatsInput}. */
export const ConversationStats = Type.Unsafe<ConversationStatsInput & Record<string, unknown>>({
  $id: "ConversationStats-Output",
  type: "object",
  additionalProperties: true,
});
export type ConversationStats = Static<typeof ConversationStats>;
