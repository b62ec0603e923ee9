/**
 * The models that agents are known to work well with, newest first, by who serves them: a short list to choose from, beside the whole
 * catalogue. Names as the provider has them.
 */
const verifiedModels: Readonly<Record<string, readonly string[]>> = {
  anthropic: [
    "claude-opus-5",
    "claude-sonnet-5",
    "claude-opus-4-7",
    "claude-sonnet-4-6",
    "claude-haiku-4-5-20251001",
  ],
  deepseek: ["deepseek-v4-pro", "deepseek-v4-flash", "deepseek-chat"],
  gemini: ["gemini-3.1-pro-preview", "gemini-3-flash-preview"],
  minimax: ["minimax-m2.7"],
  mistral: ["devstral-2512", "devstral-medium-latest"],
  moonshot: ["kimi-k2.6", "kimi-k2.5"],
  openai: ["gpt-5.6", "gpt-5.6-sol", "gpt-5.5", "gpt-5.4", "gpt-5.4-mini", "gpt-5.3-codex", "gpt-5.2-codex"],
  xai: ["grok-4.3", "grok-4-1-fast"],
  zai: ["glm-5.1", "glm-4.7"],
};

/** With the models that a user has stored, so that what is chosen is among what can be chosen. */
export function verifiedWith(own: ReadonlyMap<string, readonly string[]>): Record<string, readonly string[]> {
  const providers = [...new Set([...Object.keys(verifiedModels), ...own.keys()])].toSorted();
  return Object.fromEntries(
    providers.map((provider) => [
      provider,
      [...new Set([...(verifiedModels[provider] ?? []), ...(own.get(provider) ?? [])])],
    ]),
  );
}
