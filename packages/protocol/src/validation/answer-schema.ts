import { Ajv2020 } from "ajv/dist/2020.js";
import { withoutSlow } from "./foreign-schema.ts";

/** Largest size of a schema of answers, in bytes of its JSON. */
const maxAnswerSchemaBytes = 32 * 1024;

/** Deepest nesting of one. */
const maxDepth = 64;

/** Why a value cannot be the schema of an agent's answer, with the fix; null if it can. */
export function answerSchemaFault(schema: unknown): string | null {
  if (!isObject(schema) || schema["type"] !== "object")
    return "Send a JSON Schema of the type object. Put another form into a property of one.";
  const fault = describeParts(schema, 0);
  if (fault !== null) return fault;
  const bytes = new TextEncoder().encode(JSON.stringify(schema)).length;
  if (bytes > maxAnswerSchemaBytes)
    return `The schema has ${bytes} bytes; send one of at most ${maxAnswerSchemaBytes}.`;
  const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false, addUsedSchema: false });
  try {
    ajv.compile(withoutSlow(schema, false) as Record<string, unknown>);
    return null;
  } catch (error) {
    return `Send a valid JSON Schema: ${error instanceof Error ? error.message : String(error)}.`;
  }
}

/** Nothing is fetched, so that a reference names a part of the schema itself. */
function describeParts(part: unknown, depth: number): string | null {
  if (depth > maxDepth) return `Send a schema that is nested at most ${maxDepth} levels deep.`;
  if (Array.isArray(part)) return first(part, depth);
  if (!isObject(part)) return null;
  for (const keyword of ["$ref", "$dynamicRef", "$recursiveRef"]) {
    const reference = part[keyword];
    if (typeof reference === "string" && !reference.startsWith("#"))
      return `The reference ${reference.slice(0, 200)} leads out of the schema. Put what it names into $defs.`;
  }
  return first(Object.values(part), depth);
}

function first(parts: readonly unknown[], depth: number): string | null {
  for (const part of parts) {
    const fault = describeParts(part, depth + 1);
    if (fault !== null) return fault;
  }
  return null;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
