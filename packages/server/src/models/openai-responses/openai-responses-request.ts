import type OpenAI from "openai";
import { isBlank, placeholders, textOf } from "../message-text.ts";
import type { AssistantMessage, ModelMessage, ModelRequest } from "../model.ts";
import type { ModelSettings } from "../model-settings.ts";
import { hostOf } from "../model-names.ts";
import { replayedItems } from "../provider-replay.ts";
import { withoutUndefined } from "../../lib/without-undefined.ts";
import { withoutRefused } from "../optional-fields.ts";

type Body = OpenAI.Responses.ResponseCreateParamsStreaming;
type Item = OpenAI.Responses.ResponseInputItem;
type InputPart = OpenAI.Responses.ResponseInputText | OpenAI.Responses.ResponseInputImage;

/** A request body and the names of its fields that can be left out if the provider refuses them. */
export type ResponsesRequest = { readonly body: Body; readonly optionalFields: readonly string[] };

/** Stands for sealed reasoning among the fields that can be left out: another account or model cannot open it. */
const sealedReasoning = "encrypted_content";

/** Translates a request for the responses wire, without the fields in `refused`. Nothing is stored at the provider. Pure. */
export function buildResponsesRequest(
  request: ModelRequest,
  settings: ModelSettings,
  refused: ReadonlySet<string>,
): ResponsesRequest {
  const optional = withoutRefused(optionalFields(request, settings), refused);
  const instructions = request.messages
    .flatMap((message) => (message.role === "system" ? message.content : []))
    .map((part) => part.text)
    .filter((text) => !isBlank(text))
    .join("\n\n");
  const isSealedSent = settings.isReasoningSealed && !refused.has(sealedReasoning);
  const body = {
    ...settings.extraBody,
    model: settings.route.model,
    ...(instructions === "" ? {} : { instructions }),
    input: request.messages.flatMap((message) => toItems(message, settings, isSealedSent)),
    ...(request.tools.length > 0 ? { tools: request.tools.map(toTool) } : {}),
    ...optional,
    store: false,
    stream: true,
  } as Body;
  return { body, optionalFields: [...Object.keys(optional), ...(isSealedSent ? [sealedReasoning] : [])] };
}

function optionalFields(request: ModelRequest, settings: ModelSettings): Record<string, unknown> {
  const { sampling, facts, reasoningEffort: effort, reasoningSummary: summary } = settings;
  const isSampled = facts.acceptsSampling || !settings.isUnsupportedDropped;
  const reasoning = withoutUndefined({
    effort: effort ?? undefined,
    summary: summary ?? undefined,
  });
  return {
    include: facts.hasReasoning && settings.isReasoningSealed ? ["reasoning.encrypted_content"] : null,
    reasoning: facts.hasReasoning && Object.keys(reasoning).length > 0 ? reasoning : null,
    temperature: isSampled ? sampling.temperature : null,
    top_p: isSampled ? sampling.topP : null,
    max_output_tokens: settings.outputLimit,
    prompt_cache_key: request.cacheKey,
    prompt_cache_retention: /^(?:gpt-5|gpt-4\.1)/iu.test(settings.route.model)
      ? settings.cacheRetention
      : null,
  };
}

function toTool(tool: ModelRequest["tools"][number]): OpenAI.Responses.FunctionTool {
  const { name, description, parameters } = tool;
  return { type: "function", name, description, parameters: { ...parameters }, strict: false };
}

function toItems(message: ModelMessage, settings: ModelSettings, isSealedSent: boolean): Item[] {
  switch (message.role) {
    case "system":
      return [];
    case "user": {
      const parts = toParts(message, settings);
      const content = parts.length === 0 ? [textPart(placeholders.user)] : parts;
      return [{ type: "message", role: "user", content }];
    }
    case "tool":
      return [
        { type: "function_call_output", call_id: message.toolCallId, output: toOutput(message, settings) },
      ];
    default:
      return toAssistantItems(message, settings, isSealedSent);
  }
}

/** One output for each call, never empty: text where that is enough, parts where there are images. */
function toOutput(
  message: Extract<ModelMessage, { role: "tool" }>,
  settings: ModelSettings,
): string | InputPart[] {
  const parts = toParts(message, settings);
  if (parts.some((part) => part.type === "input_image")) return parts;
  const text = textOf(message, settings.isVisionEnabled);
  return isBlank(text) ? placeholders.tool : text;
}

function toParts(
  message: Extract<ModelMessage, { role: "user" | "tool" }>,
  settings: ModelSettings,
): InputPart[] {
  return message.content.flatMap((part): InputPart[] => {
    if ("image_urls" in part) {
      if (!settings.isVisionEnabled) return [textPart(textOf({ ...message, content: [part] }, false))];
      return part.image_urls.map((url) => ({ type: "input_image", image_url: url, detail: "auto" }));
    }
    return isBlank(part.text) ? [] : [textPart(part.text)];
  });
}

function textPart(text: string): OpenAI.Responses.ResponseInputText {
  return { type: "input_text", text };
}

/** The provider's own items where they are its own and it may open them; else text, calls and nothing sealed. */
function toAssistantItems(message: AssistantMessage, settings: ModelSettings, isSealedSent: boolean): Item[] {
  if (isSealedSent) {
    const items = replayedItems(message, "openai-responses", hostOf(settings.route.baseUrl));
    if (items !== null) return items.map((item) => withCurrentArguments(item, message));
  }
  const text = message.content.map((part) => part.text).join("");
  return [
    ...(isBlank(text) ? [] : [{ type: "message" as const, role: "assistant" as const, content: text }]),
    ...message.toolCalls.map((call) => ({
      type: "function_call" as const,
      call_id: call.id,
      name: call.name,
      arguments: call.arguments,
    })),
  ];
}

/** The history has the last word about arguments: broken ones are wrapped there. */
function withCurrentArguments(item: Readonly<Record<string, unknown>>, message: AssistantMessage): Item {
  if (item["type"] !== "function_call") return item as unknown as Item;
  const call = message.toolCalls.find(({ id }) => id === item["call_id"]);
  return { ...item, arguments: call?.arguments ?? item["arguments"] } as unknown as Item;
}
