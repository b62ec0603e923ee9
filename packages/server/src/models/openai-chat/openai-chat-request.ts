import type OpenAI from "openai";
import { isBlank, placeholders, textOf } from "../message-text.ts";
import type { AssistantMessage, ExtraFields, ModelMessage, ModelRequest } from "../model.ts";
import type { ModelSettings } from "../model-settings.ts";
import { withoutUndefined } from "../../lib/without-undefined.ts";
import { withoutRefused } from "../optional-fields.ts";

type Body = OpenAI.Chat.ChatCompletionCreateParamsStreaming;
type Message = OpenAI.Chat.ChatCompletionMessageParam;
type Part = OpenAI.Chat.ChatCompletionContentPart;
type UserOrTool = Extract<ModelMessage, { role: "user" | "tool" }>;

/** A request body and the names of its fields that can be left out if the provider refuses them. */
export type ChatRequest = { readonly body: Body; readonly optionalFields: readonly string[] };

/** Translates a request for the chat completions wire, without the fields in `refused`. Pure. */
export function buildChatRequest(
  request: ModelRequest,
  settings: ModelSettings,
  refused: ReadonlySet<string>,
): ChatRequest {
  const isMarked = marksCache(settings) && !refused.has("cache_control");
  const optional = withoutRefused(optionalFields(request, settings, refused), refused);
  const body: Body = {
    ...settings.extraBody,
    model: settings.route.model,
    messages: toChatMessages(request.messages, settings, isMarked),
    ...(request.tools.length > 0 ? { tools: request.tools.map(toChatTool) } : {}),
    ...optional,
    stream: true,
  };
  return { body, optionalFields: [...Object.keys(optional), ...(isMarked ? ["cache_control"] : [])] };
}

function optionalFields(
  request: ModelRequest,
  settings: ModelSettings,
  refused: ReadonlySet<string>,
): Record<string, unknown> {
  const { sampling, facts, route } = settings;
  const isOpenai = isOpenaiAddress(settings);
  const isSampled = facts.acceptsSampling || !settings.isUnsupportedDropped;
  const isNewLimitName = isOpenai !== refused.has(isOpenai ? "max_completion_tokens" : "max_tokens");
  return {
    stream_options: { include_usage: true },
    temperature: isSampled ? sampling.temperature : null,
    top_p: isSampled ? sampling.topP : null,
    // Not part of OpenAI's own API, and known to most servers that copy it.
    top_k: isOpenai ? null : sampling.topK,
    seed: sampling.seed,
    [isNewLimitName ? "max_completion_tokens" : "max_tokens"]: outputLimit(settings),
    reasoning_effort: takesReasoningEffort(settings) ? settings.reasoningEffort : null,
    prompt_cache_key: isOpenai ? request.cacheKey : null,
    prompt_cache_retention: isOpenai && keepsCacheLong(route.model) ? settings.cacheRetention : null,
  };
}

function isOpenaiAddress(settings: ModelSettings): boolean {
  return new URL(settings.route.baseUrl).hostname === "api.openai.com";
}

/** Some providers default to a short answer, so their known limit is sent; a server of the user's own decides itself. */
function outputLimit(settings: ModelSettings): number | null {
  if (settings.outputLimit !== null) return settings.outputLimit;
  const known = settings.facts.outputLimit;
  const isNeeded = settings.isOwnAddress && !["openai", "openrouter"].includes(settings.route.provider);
  return isNeeded && known !== null ? Math.min(known, Math.floor(settings.contextWindow / 2)) : null;
}

function takesReasoningEffort({ facts, route }: ModelSettings): boolean {
  return (
    facts.hasReasoning &&
    /(?:^|\/)(?:gpt-5|gpt-oss|o[1-9]|codex|gemini-(?:2\.5|[3-9])|grok-3-mini)/iu.test(route.model)
  );
}

function keepsCacheLong(model: string): boolean {
  return /^(?:gpt-5|gpt-4\.1)/iu.test(model) && !/mini|nano/iu.test(model);
}

/** Claude caches only what is marked, also behind these two gateways, which pass the marks on. */
function marksCache(settings: ModelSettings): boolean {
  const { provider, model } = settings.route;
  return settings.isCacheMarked && /claude/iu.test(model) && /^(?:litellm_proxy|openrouter)$/u.test(provider);
}

function toChatTool(tool: ModelRequest["tools"][number]): OpenAI.Chat.ChatCompletionTool {
  return {
    type: "function",
    function: { name: tool.name, description: tool.description, parameters: { ...tool.parameters } },
  };
}

function toChatMessages(
  messages: readonly ModelMessage[],
  settings: ModelSettings,
  isMarked: boolean,
): Message[] {
  const chat: Message[] = [];
  let pendingImages: Part[] = [];
  const flushImages = (): void => {
    if (pendingImages.length > 0) chat.push({ role: "user", content: pendingImages });
    pendingImages = [];
  };
  const firstSystem = messages.findIndex((message) => message.role === "system");
  const lastInput = messages.findLastIndex((message) => message.role === "user" || message.role === "tool");
  for (const [index, message] of messages.entries()) {
    const hasMark = isMarked && (index === firstSystem || index === lastInput);
    if (message.role !== "tool") flushImages();
    if (message.role === "assistant") {
      const assistant = toChatAssistant(message);
      if (assistant !== null) chat.push(assistant);
      continue;
    }
    if (message.role === "tool") pendingImages.push(...toolImages(message, settings));
    chat.push(toChatInput(message, settings, hasMark));
  }
  flushImages();
  return chat;
}

function toChatInput(
  message: Exclude<ModelMessage, AssistantMessage>,
  settings: ModelSettings,
  hasMark: boolean,
): Message {
  const content = hasMark ? markedParts(message, settings) : plainContent(message, settings);
  // The SDK's types allow only text parts in system and tool messages, which is what those two get here.
  if (message.role === "tool") {
    return { role: "tool", tool_call_id: message.toolCallId, content: content as string };
  }
  return { role: message.role, content: content as string };
}

function plainContent(
  message: Exclude<ModelMessage, AssistantMessage>,
  settings: ModelSettings,
): string | Part[] {
  const text = textOf(message, settings.isVisionEnabled);
  const urls = message.role === "user" && settings.isVisionEnabled ? imageUrls(message) : [];
  if (urls.length === 0) return isBlank(text) ? placeholders[message.role] : text;
  return [...(isBlank(text) ? [] : [{ type: "text" as const, text }]), ...urls.map(toImagePart)];
}

/** The first system block is the part that other conversations share, so the mark goes there; elsewhere on the last. */
function markedParts(message: Exclude<ModelMessage, AssistantMessage>, settings: ModelSettings): unknown[] {
  const plain = plainContent(message, settings);
  const parts: Record<string, unknown>[] =
    message.role === "system"
      ? message.content.filter((part) => !isBlank(part.text)).map(({ text }) => ({ type: "text", text }))
      : typeof plain === "string"
        ? [{ type: "text", text: plain }]
        : plain.map((part) => ({ ...part }));
  const at = message.role === "system" ? 0 : parts.length - 1;
  return parts.map((part, index) =>
    index === at ? { ...part, cache_control: { type: "ephemeral" } } : part,
  );
}

function toChatAssistant(message: AssistantMessage): Message | null {
  const text = message.content.map((part) => part.text).join("");
  const extra = message.extra ?? noExtra;
  const hasCalls = message.toolCalls.length > 0;
  if (isBlank(text) && !hasCalls && Object.keys(extra.message).length === 0) return null;
  return {
    role: "assistant",
    content: isBlank(text) ? (hasCalls ? null : placeholders.assistant) : text,
    ...extra.message,
    ...withoutUndefined({
      tool_calls: hasCalls
        ? message.toolCalls.map((call, index) => ({
            ...extra.calls[index],
            id: call.id,
            type: "function" as const,
            function: { name: call.name, arguments: call.arguments },
          }))
        : undefined,
    }),
  };
}

const noExtra: ExtraFields = { message: {}, calls: [] };

/** Tool messages carry text only, so images of tools follow in a user message after the whole batch of results. */
function toolImages(message: Extract<ModelMessage, { role: "tool" }>, settings: ModelSettings): Part[] {
  const urls = settings.isVisionEnabled ? imageUrls(message) : [];
  if (urls.length === 0) return [];
  return [
    { type: "text", text: `Images from ${message.name} (${message.toolCallId}):` },
    ...urls.map(toImagePart),
  ];
}

function imageUrls(message: UserOrTool): string[] {
  return message.content.flatMap((part) => ("image_urls" in part ? part.image_urls : []));
}

function toImagePart(url: string): Part {
  return { type: "image_url", image_url: { url } };
}
