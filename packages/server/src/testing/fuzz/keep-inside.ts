import { resolve, sep } from "node:path";

/** Bounds of requests: files below `root`, models and servers at `serverUrl`. */
export type Bounds = { readonly root: string; readonly serverUrl: string };

const commands = ["true", "echo fuzz", "printf '%s\\n' one two", "exit 3", "cat /dev/null"];

/**
 * The same value, but commands are harmless, paths stay inside the root, addresses are local and models go to the scripted provider.
 * Nothing else is changed, so that invalid parts stay invalid.
 */
export function keepInside(value: unknown, bounds: Bounds, name = ""): unknown {
  if (typeof value === "string") return insideText(value, bounds, name);
  if (Array.isArray(value)) return value.map((item) => keepInside(item, bounds, name));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, part]) => [
    key,
    keepInside(part, bounds, isCommand(name) ? name : key),
  ]);
  return withScriptedModel(Object.fromEntries(entries) as Record<string, unknown>, bounds);
}

/** True when a path, however it is encoded, stays below the root. */
function isInside(path: string, { root }: Bounds): boolean {
  if (/^~|\\/.test(path)) return false;
  const full = resolve(root, path.replaceAll("\0", ""));
  return full === root || full.startsWith(`${root}${sep}`);
}

function isCommand(name: string): boolean {
  return /command|script|^args$/i.test(name);
}

function insideText(text: string, bounds: Bounds, name: string): string {
  if (isCommand(name)) return text.trim() === "" ? text : commands[text.length % commands.length]!;
  if (/^(llm_)?model$/.test(name) && text.includes("/") && !text.startsWith("openai/"))
    return "openai/scripted";
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text) || text.startsWith("//")) {
    return text.startsWith(`${bounds.serverUrl}/`) ? text : `${bounds.serverUrl}/v1`;
  }
  // Addresses of repositories, for programs that accept more forms than URLs.
  if (/^[^/\s]+@|^[\w-]+:/.test(text) && /source|repo|url/i.test(name)) return `${bounds.root}/repository`;
  return isInside(text, bounds) ? text : `${bounds.root}/outside`;
}

/** A model without an address would be requested from its real provider. */
function withScriptedModel(value: Record<string, unknown>, { serverUrl }: Bounds): Record<string, unknown> {
  const addressed = { ...value };
  const isAbsent = (name: string): boolean => addressed[name] === undefined || addressed[name] === null;
  if ("model" in addressed && isAbsent("base_url")) addressed["base_url"] = `${serverUrl}/v1`;
  if ("llm_model" in addressed && isAbsent("llm_base_url")) addressed["llm_base_url"] = `${serverUrl}/v1`;
  return addressed;
}
