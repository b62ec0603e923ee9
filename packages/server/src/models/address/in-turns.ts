import { isBlank, placeholders } from "../message-text.ts";
import type { AssistantMessage, ModelMessage } from "../model.ts";

type UserMessage = Extract<ModelMessage, { role: "user" }>;

/** A history in which user and assistant take turns, calls and results apart: chat templates of several models raise an error otherwise. */
export function inTurns(messages: readonly ModelMessage[]): ModelMessage[] {
  const turns: ModelMessage[] = [];
  for (const given of messages) {
    const message = given.role === "assistant" ? withWords(given) : given;
    const last = turns.at(-1);
    if (message.role === "user" && last?.role === "user") turns[turns.length - 1] = joined(last, message);
    else if (message.role === "assistant" && last?.role === "assistant" && last.toolCalls.length === 0)
      turns[turns.length - 1] = asOne(last, message);
    else if (message.role === "user" && last?.role === "tool") turns.push(between, message);
    else if (message.role === "assistant" && (last === undefined || last.role === "system"))
      turns.push(before, message);
    else turns.push(message);
  }
  return turns;
}

/** An empty answer would be left out of the request, and two user messages would follow each other. */
function withWords(message: AssistantMessage): AssistantMessage {
  const isSilent = message.toolCalls.length === 0 && message.content.every(({ text }) => isBlank(text));
  return isSilent ? { ...message, content: [{ type: "text", text: placeholders.assistant }] } : message;
}

/** Stands before an answer to nothing. */
const before: UserMessage = {
  role: "user",
  content: [{ type: "text", text: "(The conversation begins here.)" }],
};

/** Placed between results and a user message that followed them without an answer in between. */
const between: AssistantMessage = {
  role: "assistant",
  content: [{ type: "text", text: "(A message came here.)" }],
  toolCalls: [],
  reasoningContent: null,
  thinkingBlocks: [],
  reasoningItem: null,
};

function joined(first: UserMessage, second: UserMessage): UserMessage {
  return { role: "user", content: [...first.content, ...second.content] };
}

/** Joins two answers of the assistant. Their sealed parts are dropped, because each belongs to one answer alone. */
function asOne(first: AssistantMessage, second: AssistantMessage): AssistantMessage {
  const { replay: _, ...rest } = second;
  const reasoning = [first.reasoningContent, second.reasoningContent].filter((text) => text !== null);
  return {
    ...rest,
    content: [...first.content, { type: "text", text: "\n\n" }, ...second.content],
    reasoningContent: reasoning.length === 0 ? null : reasoning.join("\n\n"),
    thinkingBlocks: [],
    reasoningItem: null,
  };
}
