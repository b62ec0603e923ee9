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
