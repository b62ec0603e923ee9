/**
 * Providers whose plain conversation the adapters cannot lead yet, and the words of the refusal that ends it. Whoever
 * mends one removes its line.
 */
export const unmended: Readonly<Record<string, string>> = {
  "google-chat": "missing a thought_signature",
  "deepseek-alias": "must be passed back",
  "deepseek-older": "must not be included",
  mimo: "Param Incorrect",
  dashscope: "must be passed back",
  glm: "must be passed back",
  "groq-kimi": "property 'reasoning_content' is unsupported",
  openrouter: "reasoning details to be preserved",
};

/**
 * Providers that may refuse once what cannot be known before; they are asked again without it, or with it, and never refuse the
 * same a second time. All others take a plain conversation at once.
 */
export const learned: readonly string[] = [
  "deepseek-alias",
  "deepseek-older",
  "mimo",
  "dashscope",
  "glm",
  "groq-kimi",
];
