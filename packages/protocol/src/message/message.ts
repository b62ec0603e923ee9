import { Type, type Static } from "typebox";
import { choice, list, object, orAbsent, ref } from "../schema.ts";
import {
  ImageContent,
  ReasoningItemModel,
  RedactedThinkingBlock,
  TextContent,
  ThinkingBlock,
} from "./content.ts";

/** The role of a message's author. */
export const roles = ["user", "system", "assistant", "tool"] as const;
export type Role = (typeof roles)[number];

/** Text or images, discriminated by `type`. */
export const contentPart = Type.Union([ref(TextContent), ref(ImageContent)]);
export type ContentPart = TextContent | ImageContent;

/** Thinking in the provider's format, discriminated by `type`. */
export const thinkingPart = Type.Union([ref(ThinkingBlock), ref(RedactedThinkingBlock)]);

/** A tool call as the model sent it; `arguments` is the provider's text, untouched. */
export const MessageToolCall = object("MessageToolCall", {
  id: Type.String(),
  name: Type.String(),
  arguments: Type.String({ description: "JSON text of the arguments." }),
  origin: choice(["completion", "responses"], { description: "Which provider API the call came from." }),
});
export type MessageToolCall = Static<typeof MessageToolCall>;

/** One message exchanged with a model. */
export const Message = object("Message", {
  role: choice(roles),
  content: list(contentPart),
  tool_calls: orAbsent(Type.Array(ref(MessageToolCall))),
  tool_call_id: orAbsent(Type.String()),
  name: orAbsent(Type.String()),
  reasoning_content: orAbsent(Type.String()),
  thinking_blocks: list(thinkingPart),
  responses_reasoning_item: orAbsent(ref(ReasoningItemModel)),
});
export type Message = Static<typeof Message>;
