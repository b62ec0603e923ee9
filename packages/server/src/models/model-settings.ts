import { LLM } from "@convoke/protocol";
import { wellFormed } from "./address/well-formed.ts";
import { readOverrides, withOverrides } from "./capability-overrides.ts";
import { findModelFacts, type ModelFacts, type ModelPrice } from "./catalog.ts";
import { routeOf, type ModelRoute } from "./model-names.ts";
import { priceWith } from "./usage.ts";

/** An LLM object of the wire with every default filled in and the catalogue consulted. Waits are in milliseconds. */
export type ModelSettings = {
  readonly name: string;
  readonly route: ModelRoute;
  /** True when the address is the provider's own, so that its limits and names are known to hold. */
  readonly isOwnAddress: boolean;
  readonly facts: ModelFacts;
  readonly apiKey: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly extraBody: Readonly<Record<string, unknown>>;
  readonly contextWindow: number;
  readonly outputLimit: number | null;
  readonly price: ModelPrice | null;
  readonly isVisionEnabled: boolean;
  readonly isCacheMarked: boolean;
  readonly cacheRetention: string | null;
  readonly sampling: Sampling;
  readonly isUnsupportedDropped: boolean;
  readonly reasoningEffort: "low" | "medium" | "high" | "xhigh" | null;
  readonly reasoningSummary: "auto" | "concise" | "detailed" | null;
  /** Asks for sealed reasoning and gives it back, where a provider keeps nothing itself. */
  readonly isReasoningSealed: boolean;
  readonly thinkingBudget: number;
  /** Longest silence of the provider; null means no limit. */
  readonly idleTimeoutMs: number | null;
  readonly retry: RetryPolicy;
  /** False for models that get tools as text and call them as text. */
  readonly isToolCallingNative: boolean;
  readonly usageId: string;
  readonly isLogged: boolean;
  readonly safetySettings: readonly Readonly<Record<string, string>>[] | null;
  readonly aws: AwsCredentials | null;
  readonly awsRegion: string;
};

export type AwsCredentials = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string | null;
};

export type Sampling = {
  readonly temperature: number | null;
  readonly topP: number | null;
  readonly topK: number | null;
  readonly seed: number | null;
};

export type RetryPolicy = {
  /** Total number of attempts, at least 1. */
  readonly attempts: number;
  readonly multiplierMs: number;
  readonly minWaitMs: number;
  readonly maxWaitMs: number;
  /** True where all of it is as the schema fills it in. */
  readonly isUsual?: boolean;
};

/** What the schema fills in: a value of these says nothing of anybody's wish. */
const usualRetries = { num_retries: 5, retry_multiplier: 8, retry_min_wait: 8, retry_max_wait: 64 } as const;

/** Reads the wire's LLM object. Throws a Fault that names the field at fault. */
export function readModelSettings(llm: LLM): ModelSettings {
  const name = llm.model ?? "";
  const configuredUrl = blankToNull(llm.base_url);
  const awsRegion = blankToNull(llm.aws_region_name);
  const route = routeOf(name, {
    baseUrl: configuredUrl ?? blankToNull(llm.aws_bedrock_runtime_endpoint),
    ollamaBaseUrl: blankToNull(llm.ollama_base_url),
    apiVersion: blankToNull(llm.api_version),
    apiMode: llm.api_mode ?? "auto",
    awsRegion,
  });
  const overrides = readOverrides(llm);
  const facts = withOverrides(findModelFacts(llm.model_canonical_name ?? name), overrides);
  const effort = llm.reasoning_effort === undefined ? "high" : llm.reasoning_effort;
  return {
    name,
    route,
    isOwnAddress: configuredUrl === null && route.isKeyRequired,
    facts,
    apiKey: blankToNull(llm.api_key),
    headers: headersOf(llm, route),
    extraBody: wellFormed(llm.litellm_extra_body ?? {}),
    contextWindow: llm.max_input_tokens ?? facts.contextWindow,
    outputLimit: llm.max_output_tokens ?? null,
    price: priceWith(facts.price, {
      input: llm.input_cost_per_token ?? null,
      output: llm.output_cost_per_token ?? null,
    }),
    isVisionEnabled: llm.disable_vision !== true && facts.hasVision,
    isCacheMarked: llm.caching_prompt ?? true,
    cacheRetention: llm.prompt_cache_retention === undefined ? "24h" : llm.prompt_cache_retention,
    sampling: {
      temperature: llm.temperature ?? null,
      // 1 is what every provider does by itself, and several refuse to hear it next to temperature.
      topP: llm.top_p === 1 ? null : (llm.top_p ?? null),
      topK: llm.top_k ?? null,
      seed: llm.seed ?? null,
    },
    isUnsupportedDropped: llm.drop_params ?? true,
    reasoningEffort: effort === "none" ? null : effort,
    reasoningSummary: llm.reasoning_summary ?? null,
    isReasoningSealed: llm.enable_encrypted_reasoning ?? true,
    thinkingBudget: effort === "none" ? 0 : thinkingBudgetOf(llm),
    idleTimeoutMs: llm.timeout === null || llm.timeout === 0 ? null : (llm.timeout ?? 300) * 1000,
    retry: {
      attempts: Math.max(1, llm.num_retries ?? usualRetries.num_retries),
      multiplierMs: (llm.retry_multiplier ?? usualRetries.retry_multiplier) * 1000,
      minWaitMs: (llm.retry_min_wait ?? usualRetries.retry_min_wait) * 1000,
      maxWaitMs: (llm.retry_max_wait ?? usualRetries.retry_max_wait) * 1000,
      isUsual: Object.entries(usualRetries).every(
        ([field, usual]) => (llm[field as keyof typeof usualRetries] ?? usual) === usual,
      ),
    },
    isToolCallingNative: (llm.native_tool_calling ?? true) && overrides.native_tool_calling !== false,
    usageId: llm.usage_id ?? "default",
    isLogged: llm.log_completions ?? false,
    safetySettings: llm.safety_settings ?? null,
    aws: awsCredentials(llm),
    awsRegion: awsRegion ?? "us-east-1",
  };
}

function awsCredentials(llm: LLM): AwsCredentials | null {
  const accessKeyId = blankToNull(llm.aws_access_key_id);
  const secretAccessKey = blankToNull(llm.aws_secret_access_key);
  if (accessKeyId === null || secretAccessKey === null) return null;
  return { accessKeyId, secretAccessKey, sessionToken: blankToNull(llm.aws_session_token) };
}

/** Tokens; null turns thinking off. */
function thinkingBudgetOf(llm: LLM): number {
  return llm.extended_thinking_budget === undefined ? 200_000 : (llm.extended_thinking_budget ?? 0);
}

function blankToNull(text: string | null | undefined): string | null {
  return text === undefined || text === null || text.trim() === "" ? null : text.trim();
}

/** A text that somebody chose; the schema's own default names another product, which is not sent unasked. */
function chosenText(llm: LLM, field: "openrouter_site_url" | "openrouter_app_name"): string | null {
  const text = blankToNull(llm[field]);
  const { default: unasked } = LLM.properties[field] as { readonly default?: unknown };
  return text === unasked ? null : text;
}

function headersOf(llm: LLM, route: ModelRoute): Record<string, string> {
  const site = chosenText(llm, "openrouter_site_url");
  const app = chosenText(llm, "openrouter_app_name");
  return {
    ...(route.provider === "openrouter" && site !== null ? { "HTTP-Referer": site } : {}),
    ...(route.provider === "openrouter" && app !== null ? { "X-Title": app } : {}),
    ...llm.extra_headers,
  };
}
