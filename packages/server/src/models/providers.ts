/** The protocols that are spoken. */
export type Wire = "openai-chat" | "openai-responses" | "anthropic" | "google" | "bedrock";

/** What is known about a provider before anything is configured. */
export type Provider = {
  /** Absent where only the user can know it. */
  readonly url?: string;
  /** Chat completions unless given. */
  readonly wire?: Wire;
  readonly isSelfHosted?: true;
  /** Also answers on the responses wire. */
  readonly hasResponses?: true;
  readonly keyHeader?: "api-key";
};

const google: Provider = { url: "https://generativelanguage.googleapis.com/v1beta", wire: "google" };

/** Providers by the first part of `provider/model`. */
export const providers: ReadonlyMap<string, Provider> = new Map<string, Provider>([
  ["openai", { url: "https://api.openai.com/v1", hasResponses: true }],
  ["openai_responses", { url: "https://api.openai.com/v1", wire: "openai-responses" }],
  ["azure", { hasResponses: true, keyHeader: "api-key" }],
  ["azure_ai", { keyHeader: "api-key" }],
  ["anthropic", { url: "https://api.anthropic.com", wire: "anthropic" }],
  ["bedrock", { wire: "bedrock" }],
  ["gemini", google],
  ["google", google],
  ["openrouter", { url: "https://openrouter.ai/api/v1" }],
  ["deepseek", { url: "https://api.deepseek.com/v1" }],
  ["mistral", { url: "https://api.mistral.ai/v1" }],
  ["groq", { url: "https://api.groq.com/openai/v1" }],
  ["xai", { url: "https://api.x.ai/v1" }],
  ["moonshot", { url: "https://api.moonshot.ai/v1" }],
  ["zai", { url: "https://api.z.ai/api/paas/v4" }],
  ["dashscope", { url: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1" }],
  ["minimax", { url: "https://api.minimax.io/v1" }],
  ["cerebras", { url: "https://api.cerebras.ai/v1" }],
  ["cohere", { url: "https://api.cohere.ai/compatibility/v1" }],
  ["together_ai", { url: "https://api.together.xyz/v1" }],
  ["fireworks_ai", { url: "https://api.fireworks.ai/inference/v1" }],
  ["deepinfra", { url: "https://api.deepinfra.com/v1/openai" }],
  ["nvidia_nim", { url: "https://integrate.api.nvidia.com/v1" }],
  ["huggingface", { url: "https://router.huggingface.co/v1" }],
  ["perplexity", { url: "https://api.perplexity.ai" }],
  ["sambanova", { url: "https://api.sambanova.ai/v1" }],
  ["novita", { url: "https://api.novita.ai/v3/openai" }],
  ["hyperbolic", { url: "https://api.hyperbolic.xyz/v1" }],
  ["nebius", { url: "https://api.studio.nebius.ai/v1" }],
  ["github", { url: "https://models.github.ai/inference" }],
  ["vercel_ai_gateway", { url: "https://ai-gateway.vercel.sh/v1" }],
  ["ollama", { url: "http://localhost:11434/v1", isSelfHosted: true }],
  ["ollama_chat", { url: "http://localhost:11434/v1", isSelfHosted: true }],
  ["lm_studio", { url: "http://localhost:1234/v1", isSelfHosted: true }],
  ["hosted_vllm", { isSelfHosted: true }],
  ["vllm", { isSelfHosted: true }],
  ["litellm_proxy", { isSelfHosted: true }],
]);

/** Providers that sign in with what a key field cannot hold, and what to do instead. */
export const unsupportedProviders: ReadonlyMap<string, string> = new Map(
  ["vertex_ai", "sagemaker", "watsonx"].map((name) => [
    name,
    `${name}/ is not spoken directly: put an OpenAI-compatible gateway in front of it and use ` +
      "openai/<model> or litellm_proxy/<model> with llm.base_url.",
  ]),
);
