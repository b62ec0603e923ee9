import type { Outcome, ToolListing } from "../host.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Validates an outcome, because a compromised host may send anything and later requests read what is stored. Null if invalid. */
export function readOutcome(value: unknown): Outcome | null {
  if (!isFields(value)) return null;
  const { type, text, observation } = value;
  if (type === "error" || type === "cancelled") return typeof text === "string" ? { type, text } : null;
  const isWhole =
    type === "observation" &&
    isFields(observation) &&
    typeof observation["kind"] === "string" &&
    isContent(observation["content"]);
  return isWhole ? (value as Outcome) : null;
}

/** Throws unless this is a list of tools with names. */
export function readTools(value: unknown): readonly ToolListing[] {
  if (Array.isArray(value) && value.every((tool) => isFields(tool) && typeof tool["name"] === "string"))
    return value as readonly ToolListing[];
  throw new Error("The tool host answered in an unknown form: its tools are no list of tools.");
}

function isContent(content: unknown): boolean {
  return content === undefined || content === null || (Array.isArray(content) && content.every(isPart));
}

function isPart(part: unknown): boolean {
  if (!isFields(part) || typeof part["type"] !== "string") return false;
  if (part["type"] === "text") return typeof part["text"] === "string";
  const { image_urls: urls } = part;
  return part["type"] !== "image" || (Array.isArray(urls) && urls.every((url) => typeof url === "string"));
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
