import { randomUUID } from "node:crypto";
import type { MessageToolCall } from "@convoke/protocol";
import type { Attempt } from "../attempt.ts";
import { CallTextSplitter, parseCalls } from "./parse-prompted-calls.ts";
import type { AssistantMessage, ModelMessage, ModelRequest, ModelTool } from "../model.ts";
import { describeTools, renderCalls, renderResult } from "./render-prompted-calls.ts";
import { withoutSealed } from "../message-text.ts";

/**
 * An attempt for models that cannot call tools by themselves: tools are described in words, calls are written and read
 * as text, results come back as messages. The rest of the server sees calls with ids that are never used twice.
 */
export function withPromptedCalls(attempt: Attempt): Attempt {
  return async function* (request, context) {
    const splitter = new CallTextSplitter();
    for await (const part of attempt(toPromptedRequest(request), context)) {
      if (part.type === "text") {
        const text = splitter.add(part.text);
        if (text !== "") yield { type: "text", text };
        continue;
      }
      if (part.type !== "done") {
        if (part.type !== "tool-arguments") yield part;
        continue;
      }
      const rest = splitter.end();
      if (rest !== "") yield { type: "text", text: rest };
      const { isTruncated: isCut } = part.response;
      const message = readCalls(part.response.message, request.tools, isCut);
      for (const [index, call] of message.toolCalls.entries()) {
        yield { type: "tool-arguments", index, name: call.name, text: call.arguments };
      }
      yield { type: "done", response: { ...part.response, message } };
    }
  };
}

/**
 * An attempt for providers that refuse the calls of a history when no tools are offered, or leave them out together with their
 * results: such a request is put in words, so that whoever is asked about the work can see it.
 */
export function withSpokenHistory(attempt: Attempt): Attempt {
  return (request, context) => {
    const isSpoken =
      request.tools.length === 0 &&
      request.messages.some((message) => message.role === "assistant" && message.toolCalls.length > 0);
    if (!isSpoken) return attempt(request, context);
    const { messages, ...rest } = toPromptedRequest(request);
    return attempt({ ...rest, messages: messages.map(withoutSealed) }, context);
  };
}

/** The request in words: no tools, no calls, no results. The same history always gives the same text. Pure. */
export function toPromptedRequest(request: ModelRequest): ModelRequest {
  const messages: ModelMessage[] = [];
  if (request.tools.length > 0) {
    messages.push({ role: "system", content: [{ type: "text", text: describeTools(request.tools) }] });
  }
  const systems = request.messages.filter((message) => message.role === "system");
  messages.unshift(...systems);
  for (const message of request.messages) {
    if (message.role === "system") continue;
    if (message.role === "assistant") {
      messages.push(toPlainMessage(message));
      continue;
    }
    if (message.role === "user") {
      messages.push(message);
      continue;
    }
    const content = renderResult(message);
    const last = messages.at(-1);
    const isBatch = last?.role === "user" && isResult(last);
    if (isBatch) messages[messages.length - 1] = { role: "user", content: [...last.content, ...content] };
    else messages.push({ role: "user", content });
  }
  return { ...request, messages, tools: [] };
}

function isResult(message: Extract<ModelMessage, { role: "user" }>): boolean {
  const [first] = message.content;
  return first !== undefined && "text" in first && first.text.startsWith("<result ");
}

function toPlainMessage(message: AssistantMessage): AssistantMessage {
  const { replay: _, extra, ...rest } = message;
  // Fields of calls have nothing to stand beside any more.
  const plain = extra === undefined ? rest : { ...rest, extra: { ...extra, calls: [] } };
  if (message.toolCalls.length === 0) return plain;
  const text = message.content.map((part) => part.text).join("");
  const calls = renderCalls(message.toolCalls);
  const whole = text.trim() === "" ? calls : `${text.trimEnd()}\n\n${calls}`;
  return { ...plain, content: [{ type: "text", text: whole }], toolCalls: [] };
}

function readCalls(message: AssistantMessage, tools: readonly ModelTool[], isCut: boolean): AssistantMessage {
  const { replay: _, ...plain } = message;
  const text = message.content.map((part) => part.text).join("");
  const { before, calls } = parseCalls(text, tools, { isCut });
  if (calls.length === 0) return plain;
  const toolCalls: MessageToolCall[] = calls.map((call) => ({
    id: `call_${randomUUID().replaceAll("-", "")}`,
    name: call.name,
    arguments: call.arguments,
    origin: "completion",
  }));
  return { ...plain, content: before === "" ? [] : [{ type: "text", text: before }], toolCalls };
}
