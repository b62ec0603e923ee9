import { Type, type Static } from "typebox";
import { Action } from "../actions/action.ts";
import { CriticResult } from "../agent/critic-result.ts";
import { ReasoningItemModel, TextContent } from "../message/content.ts";
import { MessageToolCall, thinkingPart } from "../message/message.ts";
import { list, orAbsent, ref } from "../schema.ts";
import { SecurityRisk } from "../security/security-risk.ts";
import { event } from "./event-fields.ts";

/** The agent calls a tool. `action` is null when the call was not a valid action. */
export const ActionEvent = event("ActionEvent", "agent", {
  thought: Type.Array(ref(TextContent)),
  reasoning_content: orAbsent(Type.String()),
  thinking_blocks: list(thinkingPart),
  responses_reasoning_item: orAbsent(ref(ReasoningItemModel)),
  action: orAbsent(ref(Action)),
  tool_name: Type.String(),
  tool_call_id: Type.String(),
  tool_call: ref(MessageToolCall, {
    description: "The call as received; may carry arguments the action does not.",
  }),
  llm_response_id: Type.String({ description: "Shared by all calls of one model response." }),
  security_risk: Type.Optional(ref(SecurityRisk, { default: "UNKNOWN" })),
  critic_result: orAbsent(ref(CriticResult)),
  summary: orAbsent(Type.String(), { description: "About ten words on what the call does." }),
});
export type ActionEvent = Static<typeof ActionEvent>;
