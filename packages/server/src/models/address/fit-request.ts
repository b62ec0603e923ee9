import type { ImageContent, TextContent } from "@convoke/protocol";
import { unseenImage, withoutSealed } from "../message-text.ts";
import type { ModelMessage, ModelRequest } from "../model.ts";
import { toPromptedRequest } from "../prompted-calls/prompted-calls.ts";
import type { Address } from "./address.ts";
import type { AddressRules } from "./address-rules.ts";
import { fitCalls } from "./fit-calls.ts";
import { withExtra } from "./fit-extra.ts";
import { inTurns } from "./in-turns.ts";
import { fitTools } from "./fit-tools.ts";
import { wellFormed } from "./well-formed.ts";

/**
 * A request in the form that an address takes. The same beginning of a history always gives the same beginning of the request, so
 * that prompt caches hold; the log keeps everything as it was. Pure.
 */
export function fitRequest(request: ModelRequest, rules: AddressRules, address: Address): ModelRequest {
  const open = unsealed(systemsFirst(request.messages), rules.unsealedAnswers);
  const called = endingWithInput(fitCalls(inWords(open, rules.wordsUpTo), rules));
  const messages = (rules.alternates ? inTurns(called) : called)
    .map((message) => (message.role === "assistant" ? withExtra(message, rules, address) : message))
    .map((message) => (rules.isPlainText ? plainMessage(message) : message));
  return {
    ...request,
    messages: wellFormed(messages),
    tools: wellFormed(fitTools(request.tools, rules)),
    cacheKey: wellFormed(request.cacheKey),
  };
}

/** Half of the providers refuse instructions further down, the others move them up themselves. */
function systemsFirst(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  const first = messages.findIndex(({ role }) => role !== "system");
  if (first === -1 || !messages.slice(first).some(({ role }) => role === "system")) return messages;
  const isSystem = ({ role }: ModelMessage): boolean => role === "system";
  return [...messages.filter(isSystem), ...messages.filter((message) => !isSystem(message))];
}

/** A request that ends with an assistant message is refused, or the model continues that message. */
function endingWithInput(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  if (messages.at(-1)?.role !== "assistant") return messages;
  return [...messages, { role: "user", content: [{ type: "text", text: "(Go on.)" }] }];
}

/** Sends calls and results up to the answer with this call as text, which cannot be refused for its form. */
function inWords(messages: readonly ModelMessage[], upTo: string | null): readonly ModelMessage[] {
  const isLast = (message: ModelMessage): boolean =>
    message.role === "assistant" && message.toolCalls.some(({ id }) => id === upTo);
  const answer = upTo === null ? -1 : messages.findLastIndex(isLast);
  if (answer === -1) return messages;
  const after = messages.findIndex((message, index) => index > answer && message.role !== "tool");
  const end = after === -1 ? messages.length : after;
  const prompted = toPromptedRequest({ messages: messages.slice(0, end), tools: [], cacheKey: "" });
  // What was sealed belongs to calls that are no longer there.
  return [...prompted.messages.map(withoutSealed), ...messages.slice(end)];
}

function unsealed(messages: readonly ModelMessage[], answers: number): readonly ModelMessage[] {
  let left = answers;
  if (left === 0) return messages;
  return messages.map((message) =>
    message.role === "assistant" && left-- > 0 ? withoutSealed(message) : message,
  );
}

function plainMessage(message: ModelMessage): ModelMessage {
  if (message.role === "user" || message.role === "tool")
    return { ...message, content: message.content.map(plainPart) };
  if (message.role === "system") return { ...message, content: message.content.map(withPlainText) };
  return { ...message, content: message.content.map(withPlainText) };
}

function plainPart(part: TextContent | ImageContent): TextContent {
  return "image_urls" in part ? { type: "text", text: unseenImage } : withPlainText(part);
}

function withPlainText(part: TextContent): TextContent {
  return { ...part, text: part.text.replaceAll(controlCharacters, "") };
}

/** Line ends and tabs stay. */
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for.
export const controlCharacters = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\ufffe\uffff]/gu;
