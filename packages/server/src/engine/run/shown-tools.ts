import type { ToolListing } from "@convoke/tool-host";
import { answerFormOf, finishSchema, withAnswerFields, type AnswerForm } from "../../agent/answer-form.ts";
import { isPlanning } from "../../agent/plan-mode.ts";
import type { JsonObject } from "../../lib/json-object.ts";
import type { ConversationConfig } from "../conversation-config.ts";
import type { ConversationState } from "../state/conversation-state.ts";

/** The tools of one model request, and the form of the answer to it. */
export type ShownTools = {
  readonly tools: readonly ToolListing[];
  /** Null: answers have none. */
  readonly form: AnswerForm | null;
  /** What they were made of. */
  readonly listed: readonly ToolListing[];
};

/** The JSON Schema of the next answer: of the message, the conversation, or the agent's `finish`; null for none. */
export function answerSchema(
  { agent, response_schema: ofConversation }: Pick<ConversationConfig, "agent" | "response_schema">,
  { responseSchema: ofMessage }: Pick<ConversationState, "responseSchema">,
): JsonObject | null {
  if (ofMessage !== null) return ofMessage;
  // A plan is for a person to read; the answer comes when it is carried out.
  return isPlanning(agent) ? null : (ofConversation ?? finishSchema(agent));
}

/** The tools with the answer's fields in `finish`; the `last` ones if nothing has changed, because requests are compared by them. */
export function shownTools(
  listed: readonly ToolListing[],
  schema: JsonObject | null,
  last: ShownTools | null,
): ShownTools {
  if (last?.listed === listed && (last.form?.schema ?? null) === schema) return last;
  const form = schema === null ? null : answerFormOf(schema);
  return { tools: form === null ? listed : withAnswerFields(listed, form), form, listed };
}
