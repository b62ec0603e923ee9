import { Type, type Static } from "typebox";
import { closedObject, flag, list, object, orAbsent } from "../schema.ts";

/** A text part of a message, a thought or an observation. */
export const TextContent = closedObject("TextContent", {
  cache_prompt: flag(false, { description: "Ask the provider to cache the prompt up to here." }),
  type: Type.Optional(Type.Literal("text", { default: "text" })),
  text: Type.String(),
});
export type TextContent = Static<typeof TextContent>;

/** Images by address; `data:` URLs are allowed. */
export const ImageContent = object("ImageContent", {
  cache_prompt: flag(false, { description: "Ask the provider to cache the prompt up to here." }),
  type: Type.Optional(Type.Literal("image", { default: "image" })),
  image_urls: Type.Array(Type.String()),
});
export type ImageContent = Static<typeof ImageContent>;

/** A provider's visible thinking, with the signature that lets the provider verify a replay. */
export const ThinkingBlock = object("ThinkingBlock", {
  type: Type.Optional(Type.Literal("thinking", { default: "thinking" })),
  thinking: Type.String(),
  signature: orAbsent(Type.String()),
});
export type ThinkingBlock = Static<typeof ThinkingBlock>;

/** Encrypted thinking of a provider; only stored to be sent back. */
export const RedactedThinkingBlock = object("RedactedThinkingBlock", {
  type: Type.Optional(Type.Literal("redacted_thinking", { default: "redacted_thinking" })),
  data: Type.String(),
});
export type RedactedThinkingBlock = Static<typeof RedactedThinkingBlock>;

/** A reasoning item of a provider's responses API. `encrypted_content` is never logged or shown. */
export const ReasoningItemModel = object("ReasoningItemModel", {
  id: orAbsent(Type.String()),
  summary: list(Type.String()),
  content: orAbsent(Type.Array(Type.String())),
  encrypted_content: orAbsent(Type.String()),
  status: orAbsent(Type.String()),
});
export type ReasoningItemModel = Static<typeof ReasoningItemModel>;
