import type { AssistantMessage, ModelMessage } from "./model.ts";

/** Providers refuse empty content, so these words stand for it. */
export const placeholders = {
  system: "(no instructions)",
  user: "(empty message)",
  assistant: "(no words)",
  tool: "(no output)",
} as const;

export const unseenImage = "[An image is here; this model cannot see images.]";

export function isBlank(text: string): boolean {
  return text.trim() === "";
}

type AnswerTexts = Pick<AssistantMessage, "toolCalls"> & { readonly text: string; readonly thought: string };

/** The message of an answer with nothing sealed; an empty text or thought is none. */
export function toMessage({ text, thought, toolCalls }: AnswerTexts): AssistantMessage {
  const content = text === "" ? [] : [{ type: "text" as const, text }];
  const reasoningContent = thought === "" ? null : thought;
  return { role: "assistant", content, toolCalls, reasoningContent, thinkingBlocks: [], reasoningItem: null };
}

/** An answer without what its provider has sealed, which belongs to its calls. */
export function withoutSealed(message: ModelMessage): ModelMessage {
  if (message.role !== "assistant") return message;
  const { replay: _, ...rest } = message;
  return { ...rest, thinkingBlocks: [], reasoningItem: null };
}

/** The id of a call for APIs that allow fewer characters than others whose calls may be in the history. */
export function toWordId(id: string): string {
  return id.replace(/[^\w-]/gu, "_");
}

/** The text of a message with its parts on separate lines; images the model cannot see are mentioned. */
export function textOf(message: Exclude<ModelMessage, AssistantMessage>, hasVision: boolean): string {
  const texts: string[] = [];
  for (const part of message.content) {
    if ("image_urls" in part) {
      if (!hasVision) texts.push(...part.image_urls.map(() => unseenImage));
    } else if (!isBlank(part.text)) texts.push(part.text);
  }
  return texts.join("\n\n");
}
