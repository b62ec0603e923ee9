import type Anthropic from "@anthropic-ai/sdk";
import { thinkingFor, type ClaudeThinking } from "./claude-thinking.ts";
import { isBlank, placeholders, toWordId, unseenImage, withoutSealed } from "../message-text.ts";
import type { AssistantMessage, ModelMessage, ModelRequest } from "../model.ts";
import type { ModelSettings } from "../model-settings.ts";
import { parseReplayedArguments } from "../replayed-arguments.ts";
import { withoutRefused } from "../optional-fields.ts";

type Body = Anthropic.MessageCreateParamsStreaming;
type Block = Anthropic.ContentBlockParam;
type ThinkingParam = Anthropic.ThinkingBlockParam | Anthropic.RedactedThinkingBlockParam;
type InputMessage = Extract<ModelMessage, { role: "user" | "tool" }>;

/** A request body, beta features to ask for, and the names of fields that can be left out if the provider refuses. */
export type MessagesRequest = {
  readonly body: Body;
  readonly betas: readonly string[];
  readonly optionalFields: readonly string[];
};

const ephemeral = { type: "ephemeral" } as const;
const interleavedThinking = "interleaved-thinking-2025-05-14";
const unknownOutputLimit = 8192;

/** Translates a request for the Anthropic messages wire, without the fields in `refused`. Pure. */
export function buildMessagesRequest(
  request: ModelRequest,
  settings: ModelSettings,
  refused: ReadonlySet<string>,
): MessagesRequest {
  const isMarked = settings.isCacheMarked && !refused.has("cache_control");
  const maxTokens = settings.outputLimit ?? settings.facts.outputLimit ?? unknownOutputLimit;
  const isThinkingReplayed = !refused.has(thinkingSignature);
  const thought = isThinkingReplayed
    ? request
    : { ...request, messages: request.messages.map(withoutSealed) };
  const thinking = refused.has("thinking") ? null : thinkingFor(thought, settings, maxTokens);
  const optional = withoutRefused(optionalFields(settings, thinking), refused);
  const system = toSystem(request.messages, isMarked);
  const body: Body = {
    ...settings.extraBody,
    model: settings.route.model,
    max_tokens: maxTokens,
    ...(system.length > 0 ? { system } : {}),
    messages: toMessages(thought.messages, settings, isMarked),
    ...(request.tools.length > 0 ? { tools: request.tools.map(toTool) } : {}),
    ...optional,
    stream: true,
  };
  return {
    body,
    betas: thinking?.type === "enabled" ? [interleavedThinking] : [],
    optionalFields: [
      ...(isThinkingReplayed ? [thinkingSignature] : []),
      ...Object.keys(optional),
      ...(isMarked ? ["cache_control"] : []),
    ],
  };
}

/** Stands for replayed thinking among the fields that can be left out: a host refuses what another one has signed. */
const thinkingSignature = "thinking_signature";

/** Sampling comes first so that it is dropped first when a rejection names several fields. */
function optionalFields(settings: ModelSettings, thinking: ClaudeThinking | null): Record<string, unknown> {
  const isSampled = thinking === null && settings.facts.acceptsSampling;
  const effort = settings.reasoningEffort;
  return {
    top_p: isSampled ? settings.sampling.topP : null,
    top_k: isSampled ? settings.sampling.topK : null,
    temperature: isSampled ? settings.sampling.temperature : null,
    // "high" is the model's default.
    output_config: thinking?.type === "adaptive" && effort !== null && effort !== "high" ? { effort } : null,
    thinking,
  };
}

function toTool(tool: ModelRequest["tools"][number]): Anthropic.Tool {
  return {
    name: tool.name,
    description: tool.description,
    input_schema: { ...tool.parameters, type: "object" },
  };
}

/** The first block is the part that other conversations share, so the mark goes there. */
function toSystem(messages: readonly ModelMessage[], isMarked: boolean): Anthropic.TextBlockParam[] {
  const texts = messages.flatMap((message) => (message.role === "system" ? message.content : []));
  return texts
    .filter((part) => !isBlank(part.text))
    .map(({ text }, index) => ({
      type: "text",
      text,
      ...(isMarked && index === 0 ? { cache_control: ephemeral } : {}),
    }));
}

/** Turns alternate on this wire: consecutive messages of one side are merged into one, tool results first. */
function toMessages(
  messages: readonly ModelMessage[],
  settings: ModelSettings,
  isMarked: boolean,
): Anthropic.MessageParam[] {
  const turns: { role: "user" | "assistant"; content: Block[] }[] = [];
  for (const message of messages) {
    if (message.role === "system") continue;
    const role = message.role === "assistant" ? "assistant" : "user";
    const blocks =
      message.role === "assistant" ? toAssistantBlocks(message) : toInputBlocks(message, settings);
    const last = turns.at(-1);
    if (last?.role === role) last.content.push(...blocks);
    else if (blocks.length > 0) turns.push({ role, content: blocks });
  }
  const inputs = turns.filter((turn) => turn.role === "user");
  for (const turn of inputs) {
    turn.content.sort((a, b) => Number(b.type === "tool_result") - Number(a.type === "tool_result"));
  }
  // The second mark finds what the previous request wrote even when one turn adds more blocks than the API looks back.
  if (isMarked) for (const turn of inputs.slice(-2)) markLastBlock(turn.content);
  return turns;
}

function markLastBlock(blocks: Block[]): void {
  const last = blocks.at(-1);
  if (last !== undefined) blocks[blocks.length - 1] = { ...last, cache_control: ephemeral } as Block;
}

function toAssistantBlocks(message: AssistantMessage): Block[] {
  const text = message.content.map((part) => part.text).join("");
  return [
    ...replayableThinking(message),
    ...(isBlank(text) ? [] : [{ type: "text" as const, text }]),
    ...message.toolCalls.map((call) => ({
      type: "tool_use" as const,
      id: toWordId(call.id),
      name: call.name,
      input: parseReplayedArguments(call.arguments),
    })),
  ];
}

/** Thinking goes back exactly as it came; without a signature it came from another provider and is refused. */
function replayableThinking(message: AssistantMessage): ThinkingParam[] {
  return message.thinkingBlocks.flatMap((block): ThinkingParam[] => {
    if ("data" in block) return [{ type: "redacted_thinking", data: block.data }];
    const { thinking, signature } = block;
    return signature ? [{ type: "thinking", thinking, signature }] : [];
  });
}

function toInputBlocks(message: InputMessage, settings: ModelSettings): Block[] {
  const blocks: (Anthropic.TextBlockParam | Anthropic.ImageBlockParam)[] = message.content.flatMap((part) => {
    if ("image_urls" in part) return part.image_urls.map((url) => toImage(url, settings.isVisionEnabled));
    return isBlank(part.text) ? [] : [{ type: "text" as const, text: part.text }];
  });
  if (blocks.length === 0) blocks.push({ type: "text", text: placeholders[message.role] });
  if (message.role === "user") return blocks;
  return [{ type: "tool_result", tool_use_id: toWordId(message.toolCallId), content: blocks }];
}

const imageTypes = ["image/jpeg", "image/png", "image/gif", "image/webp"] as const;

function toImage(url: string, hasVision: boolean): Anthropic.TextBlockParam | Anthropic.ImageBlockParam {
  if (!hasVision) return { type: "text", text: unseenImage };
  const inline = /^data:([^;,]+);base64,(.*)$/su.exec(url);
  if (inline === null) return { type: "image", source: { type: "url", url } };
  const mediaType = imageTypes.find(
    (type) => type === inline[1]?.toLowerCase().replace("image/jpg", "image/jpeg"),
  );
  if (mediaType === undefined)
    return { type: "text", text: `[An image of type ${inline[1]} is not supported.]` };
  return { type: "image", source: { type: "base64", media_type: mediaType, data: inline[2] ?? "" } };
}
