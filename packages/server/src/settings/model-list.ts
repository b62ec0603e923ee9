import rows from "../models/catalog.generated.json" with { type: "json" };
import type { StoredSettings } from "./stored-settings.ts";

/** What clients choose beforehand, before the catalogue has it. */
const newer = [
  "openai/gpt-5.6",
  "openai/gpt-5.6-sol",
  "anthropic/claude-opus-5",
  "anthropic/claude-sonnet-5",
];

/** Model names of the catalogue and a user's own by the provider that serves them, all sorted. */
export function modelsByProvider(own: readonly string[] = []): ReadonlyMap<string, readonly string[]> {
  return byProvider([...Object.keys(rows), ...newer, ...own]);
}

/** A model as a request names it: a bare name where that says who serves it. */
export function routedName(provider: string, name: string): string {
  return homeOf(name) === provider ? name : `${provider}/${name}`;
}

/** Model names by the provider that serves them, all sorted. */
export function byProvider(names: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const name of names.toSorted()) {
    const slash = name.indexOf("/");
    const provider = slash === -1 ? homeOf(name) : name.slice(0, slash);
    if (provider === null) continue;
    const models = found.get(provider) ?? [];
    const model = slash === -1 ? name : name.slice(slash + 1);
    if (!models.includes(model)) models.push(model);
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

/** The models that a user has stored somewhere, so that a list to choose from has the one that is chosen. */
export function ownModels({ llm, profiles }: Pick<StoredSettings, "llm" | "profiles">): string[] {
  const models = [llm, ...Object.values(profiles)].map(({ model }) => model);
  return models.filter((model): model is string => typeof model === "string" && model.trim() !== "");
}
