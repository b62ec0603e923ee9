import { Type, type Static } from "typebox";
import { anyObject, nullable, object, ref } from "../schema.ts";

/** The part of a request that one source filled. */
export const ContextShare = object("ContextShare", {
  source: Type.Enum(["system_prompt", "tools", "user", "agent", "tool_results", "summaries", "environment"], {
    type: "string",
  }),
  tokens: Type.Integer({ minimum: 0 }),
  share: Type.Number({ minimum: 0, maximum: 1 }),
});
export type ContextShare = Static<typeof ContextShare>;

/** A model request, rebuilt from the log. */
export const EventContext = object("EventContext", {
  event_id: Type.String(),
  request_event_id: Type.String({ description: "First event that came of the request." }),
  model: nullable(Type.String()),
  is_exact: Type.Boolean({
    description: "The rebuilt request equals the record that was made of it; false when there is no record.",
  }),
  tokens: Type.Integer({ minimum: 0 }),
  is_counted: Type.Boolean({
    description: "The provider counted the tokens; otherwise they are an estimate.",
  }),
  shares: Type.Array(ref(ContextShare)),
  cost: nullable(
    Type.Number({ description: "US dollars that the request has cost, as the log says; null without." }),
  ),
  completion_tokens: nullable(Type.Integer()),
  cached_tokens: nullable(Type.Integer({ description: "Of the tokens, those that were read from a cache." })),
  context_window: nullable(Type.Integer({ description: "How many tokens the model can take." })),
  messages: Type.Array(anyObject(), {
    description:
      "In their order. Each has `event_ids`, the events that it was made of, and `tokens`, its share of them.",
  }),
  tools: Type.Array(anyObject()),
});
export type EventContext = Static<typeof EventContext>;
