import type { TSchema } from "typebox";
import { allSchemas } from "../schemas.ts";

type Json = Record<string, unknown>;

/** A query string as HTTP servers give it: every value is text, or a list of texts where a name occurs again. */
export type RawQuery = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Turns the texts of a query string into the numbers, booleans and lists that the schema wants. Text that is not of the
 * wanted form stays text, for the check to refuse. Where a single value is wanted, the last one given counts.
 */
export function readQuery(schema: TSchema, raw: RawQuery): Record<string, unknown> {
  const { properties } = schema as unknown as { properties: Record<string, Json> };
  const read: Record<string, unknown> = {};
  for (const [name, part] of Object.entries(properties)) {
    const given = Object.hasOwn(raw, name) ? raw[name] : undefined;
    // Clients write what the page before gave them, and behind the last one that is nothing.
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

/** Text that is no boolean stays text. */
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
