import { Type, type Static } from "typebox";
import { CriticResult } from "../agent/critic-result.ts";
import { TextContent } from "../message/content.ts";
import { Message } from "../message/message.ts";
import { list, orAbsent, ref } from "../schema.ts";
import { eventWithSource } from "./event-fields.ts";

/** A message of the user or the agent. `extended_content` is what skills and context added for the model. */
export const MessageEvent = eventWithSource("MessageEvent", {
  llm_message: ref(Message),
  llm_response_id: orAbsent(Type.String()),
  activated_skills: list(Type.String()),
  extended_content: list(ref(TextContent)),
  sender: orAbsent(Type.String(), { description: "Which agent sent it, where there are several." }),
  critic_result: orAbsent(ref(CriticResult)),
});
export type MessageEvent = Static<typeof MessageEvent>;
