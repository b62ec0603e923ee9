import type { Played } from "./script-player.ts";
import { contentText, defaultErrorMessage, messagesOf, splitText, toObject, type Wire } from "./wire.ts";

type Block = Readonly<Record<string, unknown>>;
type Event = Block & { readonly type: string };

/** Anthropic messages. Source of the shapes: Anthropic API reference, messages and streaming messages. */
export const anthropicWire: Wire = {
  name: "anthropic",
  readFacts: (body) => {
    const messages = messagesOf(body);
    const hasText = (message: { content?: unknown }): boolean => contentText(message.content) !== "";
    const lastUser = messages.findLastIndex((message) => message.role === "user" && hasText(message));
    const last = messages.at(-1);
    const blocks = last?.role === "user" && Array.isArray(last.content) ? (last.content as Block[]) : [];
    const isAssistant = (message: { role?: unknown }): boolean => message.role === "assistant";
    const tools = Array.isArray(body["tools"]) ? (body["tools"] as { name?: string }[]) : [];
    return {
      assistantMessages: messages.filter(isAssistant).length,
      assistantMessagesSinceUser: messages.slice(lastUser + 1).filter(isAssistant).length,
      lastUserText: contentText(messages[lastUser]?.content),
      lastToolOutput: blocks
        .filter((block) => block["type"] === "tool_result")
        .map((block) => contentText(block["content"]))
        .join("\n"),
      toolNames: tools.flatMap((tool) => (tool.name === undefined ? [] : [tool.name])),
      // The system text counts as on the other wires, where it is a message.
      fingerprint: JSON.stringify([body["system"] ?? null, ...messages]),
    };
  },
  toEvents: (played, model) =>
    eventsOf(played, model).map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}`),
  toJson: (played, model) => ({
    ...messageHead(played, model),
    content: blocksOf(played).map(({ block }) => block),
    stop_reason: stopOf(played),
    stop_sequence: null,
    usage: usageOf(played),
  }),
  toError: (error) => ({
    type: "error",
    error: { type: error.type ?? typeOf(error.status), message: defaultErrorMessage(error) },
  }),
  overflow: {
    status: 400,
    type: "invalid_request_error",
    message: "prompt is too long: 2000 tokens > 1000 maximum",
  },
};

function eventsOf(played: Played, model: string): Event[] {
  const { output_tokens, ...input } = usageOf(played);
  const start = {
    ...messageHead(played, model),
    content: [],
    stop_reason: null,
    usage: { ...input, output_tokens: 1 },
  };
  return [
    { type: "message_start", message: start },
    { type: "ping" },
    ...blocksOf(played).flatMap(({ opening, deltas }, index) => [
      { type: "content_block_start", index, content_block: opening },
      ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
      { type: "content_block_stop", index },
    ]),
    {
      type: "message_delta",
      delta: { stop_reason: stopOf(played), stop_sequence: null },
      usage: { output_tokens },
    },
    { type: "message_stop" },
  ];
}

function messageHead({ answer }: Played, model: string): Block {
  return { id: answer.id, type: "message", role: "assistant", model };
}

/** Every block in three forms: complete, its start in a stream, and its deltas. */
function blocksOf({ answer, turn }: Played): { block: Block; opening: Block; deltas: Block[] }[] {
  if (turn.empty === true) return [];
  const blocks: { block: Block; opening: Block; deltas: Block[] }[] = [];
  const size = turn.chunk_size;
  if (answer.reasoning !== "") {
    const signature = turn.signature ?? `signature-of-${answer.id}`;
    blocks.push({
      block: { type: "thinking", thinking: answer.reasoning, signature },
      opening: { type: "thinking", thinking: "", signature: "" },
      deltas: [
        ...splitText(answer.reasoning, size).map((thinking) => ({ type: "thinking_delta", thinking })),
        { type: "signature_delta", signature },
      ],
    });
  }
  if (turn.redacted_thinking !== undefined) {
    const block = { type: "redacted_thinking", data: turn.redacted_thinking };
    blocks.push({ block, opening: block, deltas: [] });
  }
  if (answer.text !== "") {
    blocks.push({
      block: { type: "text", text: answer.text },
      opening: { type: "text", text: "" },
      deltas: splitText(answer.text, size).map((text) => ({ type: "text_delta", text })),
    });
  }
  for (const { id, name, arguments: text } of answer.toolCalls) {
    blocks.push({
      block: { type: "tool_use", id, name, input: toObject(text) },
      opening: { type: "tool_use", id, name, input: {} },
      deltas: splitText(text, size).map((partial_json) => ({ type: "input_json_delta", partial_json })),
    });
  }
  return blocks;
}

function stopOf({ answer, turn }: Played): string | null {
  if (turn.empty === true) return null;
  const reasons = { stop: "end_turn", length: "max_tokens", content_filter: "refusal" } as const;
  if (turn.finish_reason !== undefined) return reasons[turn.finish_reason];
  return answer.toolCalls.length > 0 ? "tool_use" : "end_turn";
}

function usageOf({ answer: { usage } }: Played): Record<string, number> {
  return {
    input_tokens: Math.max(0, usage.prompt_tokens - usage.cache_read_tokens - usage.cache_write_tokens),
    output_tokens: usage.completion_tokens,
    cache_read_input_tokens: usage.cache_read_tokens,
    cache_creation_input_tokens: usage.cache_write_tokens,
  };
}

function typeOf(status: number): string {
  const types: Readonly<Record<number, string>> = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    529: "overloaded_error",
  };
  return types[status] ?? (status < 500 ? "invalid_request_error" : "api_error");
}
