import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { toCall, toPrompt, toTools } from "./ai-sdk-prompt.ts";
import type { AiSdkWire } from "./ai-sdk.ts";
import type { AnswerBlock } from "./ai-sdk-answer.ts";
import type { AssistantMessage } from "../model.ts";
import type { ModelSettings } from "../model-settings.ts";
import { hostOf } from "../model-names.ts";
import { createProviderFetch } from "../provider-fetch.ts";
import { replayedItems, replayOf } from "../provider-replay.ts";
import { withoutUndefined } from "../../lib/without-undefined.ts";

/** Gemini's own API, generateContent. Thought signatures go back with the parts they came with. */
export const googleWire: AiSdkWire = {
  open: async (settings, send) => {
    const { createGoogle } = await import("@ai-sdk/google");
    const provider = createGoogle({
      baseURL: settings.route.baseUrl,
      // Given even where there is none: the library would read the environment.
      apiKey: settings.apiKey ?? "none",
      fetch: createProviderFetch(send, { "x-goog-api-key": settings.apiKey ?? "none", ...settings.headers }),
    });
    return provider.languageModel(settings.route.model);
  },
  toOptions: (request, settings, refused) => {
    const isThinking = settings.facts.hasReasoning && !refused.has("thinking");
    return withoutUndefined({
      prompt: toPrompt(request.messages, { toReplayed: (message) => toReplayed(message, settings) }),
      tools: request.tools.length > 0 ? toTools(request) : undefined,
      ...samplingOf(settings),
      maxOutputTokens: settings.outputLimit ?? undefined,
      reasoning: isThinking ? (settings.reasoningEffort ?? "none") : undefined,
      providerOptions: {
        google: withoutUndefined({
          thinkingConfig:
            isThinking && settings.reasoningEffort !== null ? { includeThoughts: true } : undefined,
          safetySettings: settings.safetySettings?.map((one) => ({ ...one })),
        }),
      },
    });
  },
  isLastChunk: (chunk) => {
    const { candidates } = chunk as { candidates?: { finishReason?: unknown }[] };
    return candidates?.[0]?.finishReason !== undefined;
  },
  withSealed: (message, blocks, settings) => ({
    ...message,
    ...(blocks.some((block) => block.signature !== null)
      ? replayOf({ wire: "google", host: hostOf(settings.route.baseUrl) }, blocks.map(toItem))
      : {}),
  }),
};

export function samplingOf(settings: ModelSettings): Partial<LanguageModelV4CallOptions> {
  const { temperature, topP, topK, seed } = settings.sampling;
  if (!settings.facts.acceptsSampling) return {};
  return withoutUndefined({
    temperature: temperature ?? undefined,
    topP: topP ?? undefined,
    topK: topK ?? undefined,
    seed: seed ?? undefined,
  });
}

/** Arguments of calls are in the message; the replay stores only what has no other place. */
function toItem({ type, id, text, signature }: AnswerBlock): Record<string, unknown> {
  return type === "call" ? { type, call_id: id, signature } : { type, text, signature };
}

function toReplayed(message: AssistantMessage, settings: ModelSettings): ReturnType<typeof toCall>[] | null {
  const items = replayedItems(message, "google", hostOf(settings.route.baseUrl));
  if (items === null) return null;
  return items.flatMap((item): ReturnType<typeof toCall>[] => {
    const {
      type,
      text = "",
      signature = null,
    } = item as { type?: string; text?: string; signature?: string | null };
    const providerOptions = signature === null ? undefined : { google: { thoughtSignature: signature } };
    if (type === "call") {
      const call = message.toolCalls.find(({ id }) => id === item["call_id"]);
      return call === undefined ? [] : [toCall(call, providerOptions)];
    }
    if (text === "" && providerOptions === undefined) return [];
    return [
      withoutUndefined({
        type: type === "text" ? "text" : "reasoning",
        text,
        providerOptions: providerOptions || undefined,
      }),
    ];
  });
}
