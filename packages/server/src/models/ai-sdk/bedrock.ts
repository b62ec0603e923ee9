import type { AiSdkWire } from "./ai-sdk.ts";
import { toThinkingBlocks } from "./ai-sdk-answer.ts";
import { toCall, toPrompt, toTools } from "./ai-sdk-prompt.ts";
import { thinkingFor } from "../anthropic/claude-thinking.ts";
import { samplingOf } from "./google.ts";
import type { AssistantMessage } from "../model.ts";
import type { ModelSettings } from "../model-settings.ts";
import { createProviderFetch } from "../provider-fetch.ts";
import { withoutUndefined } from "../../lib/without-undefined.ts";

const cachePoint = { bedrock: { cachePoint: { type: "default" } } };
const unknownOutputLimit = 8192;

/** Amazon Bedrock, converse. Signed with access keys, or with a bearer key in `llm.api_key`. */
export const bedrockWire: AiSdkWire = {
  isBinary: true,
  open: async (settings, send) => {
    const { createAmazonBedrock } = await import("@ai-sdk/amazon-bedrock");
    const provider = createAmazonBedrock(
      withoutUndefined({
        region: settings.awsRegion,
        baseURL: settings.route.baseUrl,
        // An empty text is no key, but keeps the library from reading the environment.
        apiKey: settings.apiKey ?? "",
        accessKeyId: settings.aws?.accessKeyId ?? "none",
        secretAccessKey: settings.aws?.secretAccessKey ?? "none",
        sessionToken: settings.aws?.sessionToken || undefined,
        fetch: createProviderFetch(send, settings.headers, isSignature),
      }),
    );
    return provider.languageModel(settings.route.model);
  },
  toOptions: (request, settings, refused) => {
    const { model } = settings.route;
    const isMarked = settings.isCacheMarked && /claude|nova/iu.test(model) && !refused.has("cachePoint");
    const known = settings.outputLimit ?? settings.facts.outputLimit;
    const maxTokens = known ?? (/claude/iu.test(model) ? unknownOutputLimit : null);
    const thinking = refused.has("thinking")
      ? null
      : thinkingFor(request, settings, maxTokens ?? unknownOutputLimit);
    const budget = thinking?.type === "enabled" ? thinking.budget_tokens : 0;
    const effort = settings.reasoningEffort;
    return withoutUndefined({
      prompt: toPrompt(request.messages, {
        toReplayed: refused.has("thinking") ? () => null : toReplayed,
        cacheMark: isMarked ? cachePoint : undefined,
      }),
      tools: request.tools.length > 0 ? toTools(request) : undefined,
      ...(thinking === null ? samplingOf(settings) : {}),
      // The library adds the budget again.
      maxOutputTokens: maxTokens === null ? undefined : maxTokens - budget,
      providerOptions: {
        bedrock: withoutUndefined({
          reasoningConfig: thinking === null ? undefined : reasoningOf(thinking.type, budget, effort),
          additionalModelRequestFields:
            Object.keys(settings.extraBody).length === 0
              ? undefined
              : (JSON.parse(JSON.stringify(settings.extraBody)) as Record<string, never>),
        }),
      },
    });
  },
  // The last event, after the end of the message, has the token counts.
  isLastChunk: (chunk) => (chunk as { metadata?: unknown }).metadata !== undefined,
  withSealed: (message, blocks) => ({ ...message, thinkingBlocks: toThinkingBlocks(blocks) }),
};

function isSignature(name: string): boolean {
  return name === "authorization" || name.startsWith("x-amz-");
}

function reasoningOf(type: "adaptive" | "enabled", budget: number, effort: ModelSettings["reasoningEffort"]) {
  if (type === "enabled") return { type, budgetTokens: budget };
  // "high" is the model's default.
  return withoutUndefined({
    type,
    display: "summarized",
    maxReasoningEffort: effort === null || effort === "high" ? undefined : effort,
  });
}

/** Thinking goes back as it came, before the text; without a signature it came from another provider. */
function toReplayed(message: AssistantMessage): ReturnType<typeof toCall>[] | null {
  const thinking = message.thinkingBlocks.flatMap((block): ReturnType<typeof toCall>[] => {
    if ("data" in block) {
      return [{ type: "reasoning", text: "", providerOptions: { bedrock: { redactedContent: block.data } } }];
    }
    const { thinking: text, signature } = block;
    return signature ? [{ type: "reasoning", text, providerOptions: { bedrock: { signature } } }] : [];
  });
  if (thinking.length === 0) return null;
  const text = message.content.map((part) => part.text).join("");
  return [
    ...thinking,
    ...(text.trim() === "" ? [] : [{ type: "text" as const, text }]),
    ...message.toolCalls.map((call) => toCall(call)),
  ];
}
