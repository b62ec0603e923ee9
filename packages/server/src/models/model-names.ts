import { invalidField } from "../lib/fault.ts";

/** Which protocol is spoken, where, and under which name the provider knows the model. */
export type ModelRoute = {
  readonly wire: "openai-chat" | "anthropic";
  readonly provider: string;
  readonly model: string;
  readonly baseUrl: string;
  /** False for servers that people run themselves: a missing key is then sent as a placeholder. */
  readonly isKeyRequired: boolean;
};

type RouteOptions = { readonly baseUrl: string | null; readonly ollamaBaseUrl: string | null };

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

type Provider = {
  /** Absent where only the user can know it. */
  readonly url?: string;
  readonly wire?: "anthropic";
  readonly isSelfHosted?: true;
};

const providers: ReadonlyMap<string, Provider> = new Map<string, Provider>([
  ["openai", { url: "https://api.openai.com/v1" }],
  ["anthropic", { url: "https://api.anthropic.com", wire: "anthropic" }],
  ["openrouter", { url: "https://openrouter.ai/api/v1" }],
  ["gemini", { url: "https://generativelanguage.googleapis.com/v1beta/openai" }],
  ["google", { url: "https://generativelanguage.googleapis.com/v1beta/openai" }],
  ["deepseek", { url: "https://api.deepseek.com/v1" }],
  ["mistral", { url: "https://api.mistral.ai/v1" }],
  ["groq", { url: "https://api.groq.com/openai/v1" }],
  ["xai", { url: "https://api.x.ai/v1" }],
  ["moonshot", { url: "https://api.moonshot.ai/v1" }],
  ["zai", { url: "https://api.z.ai/api/paas/v4" }],
  ["dashscope", { url: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1" }],
  ["minimax", { url: "https://api.minimax.io/v1" }],
  ["cerebras", { url: "https://api.cerebras.ai/v1" }],
  ["together_ai", { url: "https://api.together.xyz/v1" }],
  ["fireworks_ai", { url: "https://api.fireworks.ai/inference/v1" }],
  ["deepinfra", { url: "https://api.deepinfra.com/v1/openai" }],
  ["nvidia_nim", { url: "https://integrate.api.nvidia.com/v1" }],
  ["huggingface", { url: "https://router.huggingface.co/v1" }],
  ["perplexity", { url: "https://api.perplexity.ai" }],
  ["sambanova", { url: "https://api.sambanova.ai/v1" }],
  ["vercel_ai_gateway", { url: "https://ai-gateway.vercel.sh/v1" }],
  ["ollama", { url: "http://localhost:11434/v1", isSelfHosted: true }],
  ["ollama_chat", { url: "http://localhost:11434/v1", isSelfHosted: true }],
  ["lm_studio", { url: "http://localhost:1234/v1", isSelfHosted: true }],
  ["hosted_vllm", { isSelfHosted: true }],
  ["vllm", { isSelfHosted: true }],
  ["litellm_proxy", { isSelfHosted: true }],
]);

const unsupportedProviders: ReadonlyMap<string, string> = new Map(
  ["azure", "azure_ai", "bedrock", "vertex_ai", "sagemaker", "watsonx"].map((name) => [
    name,
    `${name}/ is not spoken directly: put an OpenAI-compatible gateway in front of it and use ` +
      "openai/<model> or litellm_proxy/<model> with llm.base_url.",
  ]),
);

function routeOfProvider(name: string, provider: Provider, model: string, options: RouteOptions): ModelRoute {
  if (model.trim() === "") {
    throw invalidField(["llm", "model"], `names the provider ${name} but no model: write ${name}/<model>.`);
  }
  const isOllama = name.startsWith("ollama");
  const configured = options.baseUrl ?? (isOllama ? options.ollamaBaseUrl : null);
  const address = configured ?? provider.url;
  if (address === undefined) {
    throw invalidField(["llm", "base_url"], `is needed for ${name}/ models: set the address of your server.`);
  }
  const isVersionAdded = provider.isSelfHosted === true && name !== "litellm_proxy";
  const wire = provider.wire ?? "openai-chat";
  return {
    wire,
    provider: name,
    model,
    baseUrl: wire === "anthropic" ? anthropicBase(address) : openaiBase(address, isVersionAdded),
    isKeyRequired: provider.isSelfHosted !== true && !isLocalUrl(address),
  };
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
    return routeOfProvider("openai", { url: "https://api.openai.com/v1" }, name, options);
  }
  throw invalidField(
    ["llm", "model"],
    `${JSON.stringify(name)} does not say which provider serves it: write provider/model ` +
      `(for example openrouter/${name}), or set llm.base_url to an OpenAI-compatible server.`,
  );
}

function openaiBase(address: string, isVersionAdded: boolean): string {
  const url = parseBase(address);
  url.pathname = url.pathname.replace(/\/+$/u, "").replace(/\/(?:chat\/)?completions$/u, "");
  if (isVersionAdded && url.pathname === "/") url.pathname = "/v1";
  return url.href.replace(/\/+$/u, "");
}

/** The SDK adds `/v1/messages` itself. */
function anthropicBase(address: string): string {
  const url = parseBase(address);
  url.pathname = url.pathname
    .replace(/\/+$/u, "")
    .replace(/\/messages$/u, "")
    .replace(/\/v1$/u, "");
  return url.href.replace(/\/+$/u, "");
}

function parseBase(address: string): URL {
  const url = URL.canParse(address.trim()) ? new URL(address.trim()) : null;
  if (url === null || !/^https?:$/u.test(url.protocol)) {
    throw invalidField(["llm", "base_url"], "is not an address: write it like https://host/v1.");
  }
  url.search = "";
  url.hash = "";
  return url;
}
