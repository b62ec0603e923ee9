import { Type, type Static } from "typebox";
import { event, eventWithSource } from "./event-fields.ts";

/** The run of a conversation failed; the model never sees this event. */
export const ConversationErrorEvent = eventWithSource("ConversationErrorEvent", {
  code: Type.String({ description: "Stable code of the failure." }),
  detail: Type.String({ description: "What happened, in a sentence." }),
});
export type ConversationErrorEvent = Static<typeof ConversationErrorEvent>;

/** One field of the conversation's state changed; key `full_state` carries all of it. */
export const ConversationStateUpdateEvent = event("ConversationStateUpdateEvent", "environment", {
  key: Type.Optional(Type.String()),
  value: Type.Optional(Type.Unknown()),
});
export type ConversationStateUpdateEvent = Static<typeof ConversationStateUpdateEvent>;

/** One completion log record, sent to the client instead of being written to a file. */
export const LLMCompletionLogEvent = event("LLMCompletionLogEvent", "environment", {
  filename: Type.String({ description: "File name meant for the client's log folder." }),
  log_data: Type.String({ description: "JSON text of the record." }),
  model_name: Type.Optional(Type.String({ default: "unknown" })),
  usage_id: Type.Optional(Type.String({ default: "default" })),
});
export type LLMCompletionLogEvent = Static<typeof LLMCompletionLogEvent>;

/** Token ids of one model exchange, from servers that report them. */
export const TokenEvent = eventWithSource("TokenEvent", {
  prompt_token_ids: Type.Array(Type.Integer()),
  response_token_ids: Type.Array(Type.Integer()),
});
export type TokenEvent = Static<typeof TokenEvent>;

/** The user paused the agent. */
export const PauseEvent = event("PauseEvent", "user", {});
export type PauseEvent = Static<typeof PauseEvent>;
