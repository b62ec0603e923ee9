import type { TSchema } from "typebox";
import { allSchemas } from "../schemas.ts";

type Json = Record<string, unknown>;

/** A query string as HTTP servers provide it: every value is a text, or a list of texts for a repeated name. */
export type RawQuery = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Converts the texts of a query string to the numbers, booleans and lists of the schema. Texts of another form are left for the
 * validation to reject. If a single value is expected, the last one counts.
 */
export function readQuery(schema: TSchema, raw: RawQuery): Record<string, unknown> {
  const { properties } = schema as unknown as { properties: Record<string, Json> };
  const read: Record<string, unknown> = {};
  for (const [name, part] of Object.entries(properties)) {
    const given = Object.hasOwn(raw, name) ? raw[name] : undefined;
    // Clients pass on the cursor of the previous page, which is empty after the last page.
    if (name === "page_id" && given === "") continue;
    if (given !== undefined) read[name] = readValue(part, given);
  }
  return read;
}

function readValue(schema: Json, given: string | readonly string[]): unknown {
  const type = typeOf(schema);
  const texts = typeof given === "string" ? [given] : given;
  if (type === "array") return texts;
  const text = texts.at(-1);
  if (text === undefined) return undefined;
  if (type === "integer") return /^[+-]?\d{1,15}$/.test(text) ? Number(text) : text;
  if (type === "number") return /^[+-]?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
  if (type === "boolean") return readBoolean(text);
  return text;
}

/** Other texts stay texts. */
export function readBoolean(text: string): boolean | string {
  const word = text.toLowerCase();
  if (["true", "1", "yes", "on"].includes(word)) return true;
  return ["false", "0", "no", "off"].includes(word) ? false : text;
}

function typeOf(schema: Json): unknown {
  if (typeof schema["$ref"] === "string") return typeOf(allSchemas.get(schema["$ref"]) as Json);
  if (!Array.isArray(schema["anyOf"])) return schema["type"];
  const branches = schema["anyOf"] as Json[];
  return branches.map(typeOf).find((type) => type !== "null");
}
