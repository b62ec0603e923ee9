import type { Played, RequestFacts } from "./script-player.ts";
import { contentText, defaultErrorMessage, messagesOf, splitText, type Wire } from "./wire.ts";

/** What a provider with a compatible wire adds to it. */
export type ChatDialect = {
  /** The fields of a chunk of reasoning; `reasoning_content` unless given. */
  readonly toReasoning?: (part: string) => object;
  /** Fields after the reasoning, such as a signature. */
  readonly afterReasoning?: (played: Played) => object | null;
  /** Additional fields of a call. */
  readonly toCallExtras?: (played: Played, index: number) => object;
};

/** Chat completions. Source of the shapes: OpenAI API reference, chat completion object and chunk object. */
export const openaiWire: Wire = createChatWire();

export function createChatWire(dialect: ChatDialect = {}): Wire {
  return {
    name: "openai-chat",
    readFacts,
    toEvents: (played, model) => [
      ...chunksOf(played, model, dialect).map((chunk) => `data: ${JSON.stringify(chunk)}`),
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
          : [{ index: 0, message: wholeMessage(played, dialect), finish_reason: finishOf(played) }],
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
}

function readFacts(body: Readonly<Record<string, unknown>>): RequestFacts {
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
}

function chunksOf(played: Played, model: string, dialect: ChatDialect): unknown[] {
  const toReasoning = reasoningOf(dialect);
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
    ...splitText(answer.reasoning, turn.chunk_size).map((part) => delta(toReasoning(part))),
    ...afterReasoningOf(played, dialect).map(delta),
    ...splitText(answer.text, turn.chunk_size).map((part) => delta({ [textField]: part })),
    ...answer.toolCalls.flatMap((call, index) => [
      delta({
        tool_calls: [
          {
            index,
            id: call.id,
            type: "function",
            function: { name: call.name, arguments: "" },
            ...dialect.toCallExtras?.(played, index),
          },
        ],
      }),
      ...splitText(call.arguments, turn.chunk_size).map((part) =>
        delta({ tool_calls: [{ index, function: { arguments: part } }] }),
      ),
    ]),
    chunk([{ index: 0, delta: {}, finish_reason: finishOf(played) }]),
    usage,
  ];
}

function reasoningOf(dialect: ChatDialect): (part: string) => object {
  return dialect.toReasoning ?? ((part) => ({ reasoning_content: part }));
}

function afterReasoningOf(played: Played, dialect: ChatDialect): object[] {
  const after = dialect.afterReasoning?.(played) ?? null;
  return after === null ? [] : [after];
}

function wholeMessage(played: Played, dialect: ChatDialect): unknown {
  const { answer, turn } = played;
  return {
    role: "assistant",
    content: turn.refusal === undefined && answer.text !== "" ? answer.text : null,
    ...(turn.refusal === undefined ? {} : { refusal: answer.text }),
    ...(answer.reasoning === "" ? {} : reasoningOf(dialect)(answer.reasoning)),
    ...afterReasoningOf(played, dialect)[0],
    ...(answer.toolCalls.length === 0
      ? {}
      : {
          tool_calls: answer.toolCalls.map((call, index) => ({
            id: call.id,
            type: "function",
            function: { name: call.name, arguments: call.arguments },
            ...dialect.toCallExtras?.(played, index),
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
