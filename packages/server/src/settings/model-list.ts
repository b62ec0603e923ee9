import rows from "../models/catalog.generated.json" with { type: "json" };

/** Model names of the catalogue by the provider that serves them, both sorted. */
export function modelsByProvider(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const name of Object.keys(rows).sort()) {
    const slash = name.indexOf("/");
    const provider = slash === -1 ? homeOf(name) : name.slice(0, slash);
    if (provider === null) continue;
    const models = found.get(provider) ?? [];
    models.push(slash === -1 ? name : name.slice(slash + 1));
    found.set(provider, models);
  }
  return new Map([...found].sort(([left], [right]) => (left < right ? -1 : 1)));
}

/** Who serves a model with a bare name; null when more than one does. */
function homeOf(name: string): string | null {
  for (const [provider, pattern] of homes) if (pattern.test(name)) return provider;
  return null;
}

const homes: readonly (readonly [string, RegExp])[] = [
  ["anthropic", /^claude/i],
  ["openai", /^(?:gpt|chatgpt|codex|o[1-9])/i],
  ["gemini", /^gemini/i],
  ["deepseek", /^deepseek/i],
  ["mistral", /^(?:mistral|codestral|devstral|magistral|ministral|pixtral)/i],
  ["xai", /^grok/i],
];
