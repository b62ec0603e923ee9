import { encodeEventFrame } from "./event-frame.ts";
import type { Played } from "./script-player.ts";
import { defaultErrorMessage, messagesOf, splitText, toObject, type Wire } from "./wire.ts";

type Block = Readonly<Record<string, unknown>>;

/** Amazon Bedrock, converse. Source of the shapes: Bedrock API reference, Converse and ConverseStream. */
export const bedrockWire: Wire = {
  name: "bedrock",
  readFacts: (body) => {
    const messages = messagesOf(body);
    const isAssistant = (message: { role?: unknown }): boolean => message.role === "assistant";
    const lastUser = messages.findLastIndex(
      (message) => !isAssistant(message) && textOf(message.content) !== "",
    );
    const lastAssistant = messages.findLastIndex(isAssistant);
    const { toolConfig } = body as { toolConfig?: { tools?: { toolSpec?: { name?: string } }[] } };
    return {
      assistantMessages: messages.filter(isAssistant).length,
      assistantMessagesSinceUser: messages.slice(lastUser + 1).filter(isAssistant).length,
      lastUserText: textOf(messages[lastUser]?.content),
      lastToolOutput: messages
        .slice(lastAssistant + 1)
        .flatMap(({ content }) => resultsOf(content))
        .join("\n"),
      toolNames: (toolConfig?.tools ?? []).flatMap(({ toolSpec }) => toolSpec?.name ?? []),
      fingerprint: JSON.stringify([body["system"] ?? null, ...messages]),
    };
  },
  eventType: "application/vnd.amazon.eventstream",
  headers: ({ answer }) => ({ "x-amzn-requestid": answer.id }),
  toEvents: (played) => eventsOf(played).map(([type, value]) => `${type}\n${JSON.stringify(value)}`),
  toFrame: (event) => {
    const at = event.indexOf("\n");
    return encodeEventFrame(event.slice(0, at), event.slice(at + 1));
  },
  toJson: (played) => ({
    output: { message: { role: "assistant", content: blocksOf(played).map(({ block }) => block) } },
    stopReason: stopOf(played),
    usage: usageOf(played),
    metrics: { latencyMs: 1 },
  }),
  toError: (error) => ({ message: defaultErrorMessage(error) }),
  overflow: { status: 400, message: "Input is too long for requested model." },
};

function textOf(content: unknown): string {
  if (!Array.isArray(content)) return "";
  return (content as Block[])
    .flatMap((block) => (typeof block["text"] === "string" ? [block["text"]] : []))
    .join("\n");
}

function resultsOf(content: unknown): string[] {
  if (!Array.isArray(content)) return [];
  return (content as { toolResult?: { content?: unknown } }[]).flatMap(({ toolResult }) =>
    toolResult === undefined ? [] : [textOf(toolResult.content)],
  );
}

function eventsOf(played: Played): [string, unknown][] {
  const metadata: [string, unknown] = ["metadata", { usage: usageOf(played), metrics: { latencyMs: 1 } }];
  if (played.turn.empty === true) return [["messageStart", { role: "assistant" }], metadata];
  return [
    ["messageStart", { role: "assistant" }],
    ...blocksOf(played).flatMap(({ start, deltas }, contentBlockIndex): [string, unknown][] => [
      ...(start === null ? [] : [["contentBlockStart", { contentBlockIndex, start }] as [string, unknown]]),
      ...deltas.map((delta): [string, unknown] => ["contentBlockDelta", { contentBlockIndex, delta }]),
      ["contentBlockStop", { contentBlockIndex }],
    ]),
    ["messageStop", { stopReason: stopOf(played) }],
    metadata,
  ];
}

function blocksOf({ answer, turn }: Played): { block: Block; start: Block | null; deltas: Block[] }[] {
  const size = turn.chunk_size;
  const blocks: { block: Block; start: Block | null; deltas: Block[] }[] = [];
  if (answer.reasoning !== "") {
    const signature = turn.signature ?? `signature-of-${answer.id}`;
    blocks.push({
      block: { reasoningContent: { reasoningText: { text: answer.reasoning, signature } } },
      start: null,
      deltas: [
        ...splitText(answer.reasoning, size).map((text) => ({ reasoningContent: { text } })),
        { reasoningContent: { signature } },
      ],
    });
  }
  if (turn.redacted_thinking !== undefined) {
    const block = { reasoningContent: { redactedContent: turn.redacted_thinking } };
    blocks.push({ block, start: null, deltas: [block] });
  }
  if (answer.text !== "") {
    blocks.push({
      block: { text: answer.text },
      start: null,
      deltas: splitText(answer.text, size).map((text) => ({ text })),
    });
  }
  for (const { id: toolUseId, name, arguments: text } of answer.toolCalls) {
    blocks.push({
      block: { toolUse: { toolUseId, name, input: toObject(text) } },
      start: { toolUse: { toolUseId, name } },
      deltas: splitText(text, size).map((input) => ({ toolUse: { input } })),
    });
  }
  return blocks;
}

function stopOf({ answer, turn }: Played): string {
  const reasons = { stop: "end_turn", length: "max_tokens", content_filter: "content_filtered" } as const;
  if (turn.finish_reason !== undefined) return reasons[turn.finish_reason];
  return answer.toolCalls.length > 0 ? "tool_use" : "end_turn";
}

function usageOf({ answer: { usage } }: Played): Record<string, number> {
  const inputTokens = Math.max(0, usage.prompt_tokens - usage.cache_read_tokens - usage.cache_write_tokens);
  return {
    inputTokens,
    outputTokens: usage.completion_tokens,
    totalTokens: inputTokens + usage.completion_tokens,
    cacheReadInputTokens: usage.cache_read_tokens,
    cacheWriteInputTokens: usage.cache_write_tokens,
  };
}
