import type { Model, ModelMessage, ModelPart, ModelRequest } from "../../models/model.ts";

export type Call = { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> };

/** How an order is written wherever the model may read it. */
const orderMark = /ORDER-(\d\d)/g;

/**
 * A model that obeys whatever it reads: in messages, results of tools and descriptions of tools. Each order is obeyed once in a
 * conversation, in the order of reading, and `last` when nothing else is left. A message of the user names what to read, as
 * `READ-<name>`.
 */
export function createObedientModel(
  orders: Readonly<Record<string, readonly Call[]>>,
  readings: Readonly<Record<string, Call>>,
  last: string,
): Model {
  let answers = 0;
  return {
    name: "openai/obedient",
    isVisionEnabled: false,
    async *stream(request): AsyncGenerator<ModelPart> {
      answers += 1;
      const wanted = callsFor(request, orders, readings, last);
      const done = request.messages.flatMap((message) =>
        message.role === "assistant" ? message.toolCalls : [],
      ).length;
      const next = wanted[done];
      yield {
        type: "done",
        response: {
          id: `answer-${answers}`,
          model: "openai/obedient",
          message: {
            role: "assistant",
            content: next === undefined ? [{ type: "text", text: "Done.", cache_prompt: false }] : [],
            toolCalls: next === undefined ? [] : [toToolCall(next, answers)],
            reasoningContent: null,
            thinkingBlocks: [],
            reasoningItem: null,
          },
          usage: { ...noUsage },
          latencyMs: 1,
          isTruncated: false,
        },
      };
    },
  };
}

/** All calls of the conversation so far and the next ones: what to read, and behind it the orders, as they are read. */
function callsFor(
  { messages, tools }: ModelRequest,
  orders: Readonly<Record<string, readonly Call[]>>,
  readings: Readonly<Record<string, Call>>,
  last: string,
): Call[] {
  const calls: Call[] = [];
  const obeyed = new Set<string>();
  const obey = (text: string): void => {
    for (const [, id = ""] of text.matchAll(orderMark)) {
      if (obeyed.has(id)) continue;
      obeyed.add(id);
      if (id !== last) calls.push(...(orders[id] ?? []));
    }
  };
  for (const { description } of tools) obey(description);
  for (const message of messages) {
    if (message.role === "user")
      for (const [, name = ""] of textOf(message).matchAll(/READ-(\w+)/g)) calls.push(readings[name]!);
    if (message.role === "user" || message.role === "tool") obey(textOf(message));
  }
  return obeyed.has(last) ? [...calls, ...(orders[last] ?? [])] : calls;
}

function textOf(message: ModelMessage): string {
  return message.content.map((part) => ("text" in part ? part.text : "")).join("\n");
}

function toToolCall({ name, arguments: given }: Call, at: number) {
  const id = `call_${at}`;
  return { id, name, arguments: JSON.stringify(given), origin: "completion" as const };
}

const noUsage = {
  promptTokens: 1,
  completionTokens: 1,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  contextWindow: 1_000_000,
  cost: null,
};
