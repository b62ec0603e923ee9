import { trimTrailing } from "../lib/trim-trailing.ts";
import { invalidField } from "../lib/fault.ts";
import { parseModelAddress } from "./model-address.ts";
import { providers, unsupportedProviders, type Provider, type Wire } from "./providers.ts";

/** Which protocol is spoken, where, and under which name the provider knows the model. */
export type ModelRoute = {
  readonly wire: Wire;
  readonly provider: string;
  readonly model: string;
  readonly baseUrl: string;
  /** False for servers that people run themselves: a missing key is then sent as a placeholder. */
  readonly isKeyRequired: boolean;
  /** The header that carries the key, where it is not `Authorization`. */
  readonly keyHeader?: "api-key" | undefined;
  readonly query?: Readonly<Record<string, string>>;
};

export type RouteOptions = {
  readonly baseUrl: string | null;
  readonly ollamaBaseUrl: string | null;
  readonly apiVersion?: string | null;
  readonly apiMode?: "auto" | "chat" | "responses";
  readonly awsRegion?: string | null;
};

/**
 * Finds the route of a configured model name, `provider/model` or bare.
 * Throws a Fault that names `llm.model` or `llm.base_url` and the fix.
 */
export function routeOf(name: string, options: RouteOptions): ModelRoute {
  const trimmed = name.trim();
  if (trimmed === "")
    throw invalidField(["llm", "model"], "is empty: set a model, for example openai/gpt-5.");
  const slash = trimmed.indexOf("/");
  const prefix = slash === -1 ? "" : trimmed.slice(0, slash).toLowerCase();
  const provider = providers.get(prefix);
  if (provider !== undefined) return routeOfProvider(prefix, provider, trimmed.slice(slash + 1), options);
  const unsupported = unsupportedProviders.get(prefix);
  if (unsupported !== undefined) throw invalidField(["llm", "model"], unsupported);
  return guessRoute(trimmed, options);
}

/** Tells whether a base URL points at this machine or a private network, where servers usually have no keys. */
export function isLocalUrl(baseUrl: string): boolean {
  const host = hostOf(baseUrl).replace(/^\[|\]$/gu, "");
  return (
    !/[.:]/u.test(host) ||
    /(?:^|\.)(?:localhost|local|internal|lan)$/u.test(host) ||
    /^(?:127|10)\.|^192\.168\.|^169\.254\.|^172\.(?:1[6-9]|2\d|3[01])\.|^0\.0\.0\.0$/u.test(host) ||
    /^(?:::1$|f[cd]|fe80)/u.test(host)
  );
}

/** The host of a URL, without user, password or port; for messages. */
export function hostOf(baseUrl: string): string {
  return URL.canParse(baseUrl) ? new URL(baseUrl).hostname.toLowerCase() : "the configured address";
}

function routeOfProvider(name: string, provider: Provider, model: string, options: RouteOptions): ModelRoute {
  if (model.trim() === "") {
    throw invalidField(["llm", "model"], `names the provider ${name} but no model: write ${name}/<model>.`);
  }
  const isOllama = name.startsWith("ollama");
  const configured = options.baseUrl ?? (isOllama ? options.ollamaBaseUrl : null);
  const address = configured ?? provider.url ?? regionalUrl(provider, options);
  if (address === undefined) {
    throw invalidField(["llm", "base_url"], `is needed for ${name}/ models: set the address of your server.`);
  }
  const wire = wireOf(provider, model, address, options);
  const isVersionAdded = provider.isSelfHosted === true && name !== "litellm_proxy";
  const isAzure = provider.keyHeader === "api-key";
  return {
    wire,
    provider: name,
    model,
    baseUrl: isAzure ? azureBase(address, model, wire, options) : baseOf(wire, address, isVersionAdded),
    isKeyRequired: provider.isSelfHosted !== true && !isLocalUrl(address),
    keyHeader: provider.keyHeader,
    ...(isAzure ? azureQuery(address, wire, options) : {}),
  };
}

/** OpenAI's own reasoning models keep their thoughts between calls on the responses wire only. */
const responsesModels = /^(?:gpt-5|o[1-9]|codex)/iu;

function wireOf(provider: Provider, model: string, address: string, options: RouteOptions): Wire {
  const wire = provider.wire ?? "openai-chat";
  // Google's own service answers chat completions below this path, and so do copies of it.
  if (wire === "google" && /\/openai\/?$/u.test(address)) return "openai-chat";
  if (wire !== "openai-chat") return wire;
  if (options.apiMode === "responses") return "openai-responses";
  const isHome = provider.hasResponses === true && isOpenaiHost(address);
  return options.apiMode !== "chat" && isHome && responsesModels.test(model) ? "openai-responses" : wire;
}

function isOpenaiHost(address: string): boolean {
  return /^(?:api\.openai\.com|.*\.openai\.azure\.com|.*\.cognitiveservices\.azure\.com)$/u.test(
    hostOf(address),
  );
}

function regionalUrl(provider: Provider, options: RouteOptions): string | undefined {
  return provider.wire === "bedrock"
    ? `https://bedrock-runtime.${options.awsRegion ?? "us-east-1"}.amazonaws.com`
    : undefined;
}

function baseOf(wire: Wire, address: string, isVersionAdded: boolean): string {
  if (wire === "anthropic") return anthropicBase(address);
  if (wire === "google" || wire === "bedrock") return trimTrailing(parseModelAddress(address).href, "/");
  return openaiBase(address, isVersionAdded);
}

const azureVersion = "2024-12-01-preview";

/** Azure names the deployment in the path, unless its newer address without versions is used. */
function azureBase(address: string, model: string, wire: Wire, options: RouteOptions): string {
  const base = openaiBase(address, false);
  if (isNewAzure(address, options) || /\/deployments\//u.test(base)) return base;
  const root = base.replace(/\/openai$/u, "");
  return wire === "openai-responses"
    ? `${root}/openai`
    : `${root}/openai/deployments/${encodeURIComponent(model)}`;
}

function azureQuery(address: string, wire: Wire, options: RouteOptions): Pick<ModelRoute, "query"> {
  if (isNewAzure(address, options)) return {};
  const version = options.apiVersion ?? (wire === "openai-responses" ? "2025-04-01-preview" : azureVersion);
  return { query: { "api-version": version } };
}

function isNewAzure(address: string, options: RouteOptions): boolean {
  return /\/v1\/?$/u.test(address) && (options.apiVersion ?? null) === null;
}

/** Bare names: Claude and GPT have one home; any other name needs an address. */
function guessRoute(name: string, options: RouteOptions): ModelRoute {
  if (/^claude/iu.test(name)) {
    return routeOfProvider(
      "anthropic",
      { url: "https://api.anthropic.com", wire: "anthropic" },
      name,
      options,
    );
  }
  const isOpenai = /^(?:gpt|chatgpt|codex|o[1-9])/iu.test(name);
  if (isOpenai || options.baseUrl !== null) {
    return routeOfProvider("openai", { url: "https://api.openai.com/v1", hasResponses: true }, name, options);
  }
  throw invalidField(
    ["llm", "model"],
    `${JSON.stringify(name)} does not say which provider serves it: write provider/model ` +
      `(for example openrouter/${name}), or set llm.base_url to an OpenAI-compatible server.`,
  );
}

function openaiBase(address: string, isVersionAdded: boolean): string {
  const url = parseModelAddress(address);
  url.pathname = trimTrailing(url.pathname, "/").replace(/\/(?:(?:chat\/)?completions|responses)$/u, "");
  if (isVersionAdded && url.pathname === "/") url.pathname = "/v1";
  return trimTrailing(url.href, "/");
}

/** The SDK adds `/v1/messages` itself. */
function anthropicBase(address: string): string {
  const url = parseModelAddress(address);
  url.pathname = trimTrailing(url.pathname, "/")
    .replace(/\/messages$/u, "")
    .replace(/\/v1$/u, "");
  return trimTrailing(url.href, "/");
}
