import type { Played } from "./script-player.ts";
import { contentText, defaultErrorMessage, messagesOf, piecesOf, type Wire } from "./wire.ts";

/** Chat completions. Source of the shapes: OpenAI API reference, chat completion object and chunk object. */
export const openaiWire: Wire = {
  name: "openai-chat",
  readFacts: (body) => {
    const messages = messagesOf(body);
    const lastUser = messages.findLastIndex((message) => message.role === "user");
    const lastAssistant = messages.findLastIndex((message) => message.role === "assistant");
    const isAssistant = (message: { role?: unknown }): boolean => message.role === "assistant";
    const tools = Array.isArray(body["tools"]) ? (body["tools"] as { function?: { name?: string } }[]) : [];
    return {
      assistantMessages: messages.filter(isAssistant).length,
      assistantMessagesSinceUser: messages.slice(lastUser + 1).filter(isAssistant).length,
      lastUserText: contentText(messages[lastUser]?.content),
      lastToolOutput: messages
        .slice(lastAssistant + 1)
        .filter((message) => message.role === "tool")
        .map((message) => contentText(message.content))
        .join("\n"),
      toolNames: tools.flatMap((tool) => (tool.function?.name === undefined ? [] : [tool.function.name])),
      fingerprint: JSON.stringify(messages),
    };
  },
  toEvents: (played, model) => [
    ...chunksOf(played, model).map((chunk) => `data: ${JSON.stringify(chunk)}`),
    "data: [DONE]",
  ],
  toJson: (played, model) => ({
    id: played.answer.id,
    object: "chat.completion",
    created: 0,
    model,
    choices:
      played.turn.empty === true
        ? []
        : [{ index: 0, message: wholeMessage(played), finish_reason: finishOf(played) }],
    usage: usageOf(played),
  }),
  toError: (error) => ({
    error: {
      message: defaultErrorMessage(error),
      type: error.type ?? (error.status === 429 ? "rate_limit_error" : "invalid_request_error"),
      param: null,
      code: error.type ?? null,
    },
  }),
  overflow: {
    status: 400,
    type: "context_length_exceeded",
    message: "This model's maximum context length is 1000 tokens, and your messages have 2000 tokens.",
  },
};

function chunksOf(played: Played, model: string): unknown[] {
  const { answer, turn } = played;
  const chunk = (choices: unknown[], more: object = {}): unknown => ({
    id: answer.id,
    object: "chat.completion.chunk",
    created: 0,
    model,
    choices,
    ...more,
  });
  const delta = (value: object): unknown => chunk([{ index: 0, delta: value, finish_reason: null }]);
  const usage = chunk([], { usage: usageOf(played) });
  if (turn.empty === true) return [usage];
  const textField = turn.refusal === undefined ? "content" : "refusal";
  return [
    delta({ role: "assistant", content: "" }),
    ...piecesOf(answer.reasoning, turn.chunk_size).map((piece) => delta({ reasoning_content: piece })),
    ...piecesOf(answer.text, turn.chunk_size).map((piece) => delta({ [textField]: piece })),
    ...answer.toolCalls.flatMap((call, index) => [
      delta({
        tool_calls: [{ index, id: call.id, type: "function", function: { name: call.name, arguments: "" } }],
      }),
      ...piecesOf(call.arguments, turn.chunk_size).map((piece) =>
        delta({ tool_calls: [{ index, function: { arguments: piece } }] }),
      ),
    ]),
    chunk([{ index: 0, delta: {}, finish_reason: finishOf(played) }]),
    usage,
  ];
}

function wholeMessage({ answer, turn }: Played): unknown {
  return {
    role: "assistant",
    content: turn.refusal === undefined && answer.text !== "" ? answer.text : null,
    ...(turn.refusal === undefined ? {} : { refusal: answer.text }),
    ...(answer.reasoning === "" ? {} : { reasoning_content: answer.reasoning }),
    ...(answer.toolCalls.length === 0
      ? {}
      : {
          tool_calls: answer.toolCalls.map((call) => ({
            id: call.id,
            type: "function",
            function: { name: call.name, arguments: call.arguments },
          })),
        }),
  };
}

function finishOf({ answer, turn }: Played): string {
  return turn.finish_reason ?? (answer.toolCalls.length > 0 ? "tool_calls" : "stop");
}

function usageOf({ answer: { usage } }: Played): unknown {
  return {
    prompt_tokens: usage.prompt_tokens,
    completion_tokens: usage.completion_tokens,
    total_tokens: usage.prompt_tokens + usage.completion_tokens,
    prompt_tokens_details: {
      cached_tokens: usage.cache_read_tokens,
      cache_write_tokens: usage.cache_write_tokens,
    },
    completion_tokens_details: { reasoning_tokens: usage.reasoning_tokens },
    ...(usage.cost === undefined ? {} : { cost: usage.cost }),
  };
}
