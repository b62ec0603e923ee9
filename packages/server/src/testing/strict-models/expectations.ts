/**
 * Providers that may once refuse a request for a reason that cannot be known before; it is then repeated with or without the feature, and
 * they never refuse the same a second time. All others accept a plain conversation at once.
 */
export const learned: readonly string[] = [
  "deepseek-alias",
  "deepseek-older",
  "mimo",
  "dashscope",
  "glm",
  "groq-kimi",
];
