import { isBounded } from "../lib/is-bounded.ts";
import { parseForeignJson } from "../lib/parse-foreign-json.ts";

export type ParsedArguments =
  | { readonly ok: true; readonly values: Record<string, unknown> }
  /** `problem` continues a sentence about the arguments. */
  | { readonly ok: false; readonly problem: string };

/** As in the body of a request; deeper values cannot be checked, masked and stored. */
const maxLevels = 200;
const tooDeep = `are nested more than ${maxLevels} levels deep`;

/** True where arguments are nested no deeper than later code can walk. */
function isFlatEnough(values: unknown): boolean {
  return isBounded(values, {
    maxLevels,
    maxValues: Number.POSITIVE_INFINITY,
    maxChars: Number.POSITIVE_INFINITY,
  });
}

/** Parses raw argument text; tolerates bare control characters inside strings. A JSON value that is no object counts as `{}`. */
export function parseArguments(raw: string, { keepsNulls = false } = {}): ParsedArguments {
  const text = raw.trim() === "" ? "{}" : raw;
  const parsed = parseJson(text) ?? parseJson(escapeControlCharacters(text));
  if (parsed === null) return { ok: false, problem: "are not valid JSON" };
  const { value } = parsed;
  if (!isFlatEnough(value)) return { ok: false, problem: tooDeep };
  if (typeof value !== "object" || value === null || Array.isArray(value)) return { ok: true, values: {} };
  const entries = Object.entries(value).filter(([, field]) => keepsNulls || field !== null);
  return { ok: true, values: Object.fromEntries(entries) };
}

type Property = { readonly type?: string };

/** Repairs values that the schema tells apart: lists and objects sent as JSON text, text sent as a list of strings. */
export function repairArguments(
  values: Readonly<Record<string, unknown>>,
  parameters: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const properties = (parameters["properties"] ?? {}) as Record<string, Property>;
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, repairValue(value, properties[name]?.type)]),
  );
}

function repairValue(value: unknown, type: string | undefined): unknown {
  if (typeof value === "string" && (type === "array" || type === "object")) {
    const end = Math.max(value.lastIndexOf("}"), value.lastIndexOf("]"));
    const decoded = parseJson(value) ?? parseJson(value.slice(0, end + 1));
    return decoded === null || !isFlatEnough(decoded.value) ? value : decoded.value;
  }
  if (Array.isArray(value) && type === "string" && value.every((part) => typeof part === "string")) {
    return value.join("");
  }
  if (
    typeof value === "string" &&
    (type === "integer" || type === "number") &&
    /^-?\d+(\.\d+)?$/.test(value.trim())
  ) {
    return Number(value);
  }
  if (typeof value === "string" && type === "boolean" && /^(true|false)$/i.test(value.trim())) {
    return value.trim().toLowerCase() === "true";
  }
  return value;
}

function parseJson(text: string): { value: unknown } | null {
  try {
    return { value: parseForeignJson(text) };
  } catch {
    // Not JSON is an answer here, not a failure: the caller repairs or reports it.
    return null;
  }
}

function escapeControlCharacters(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what this repairs
  return text.replaceAll(/[\u0000-\u001f]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}
