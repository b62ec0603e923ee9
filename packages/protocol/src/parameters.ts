import { actionSchemaByKind } from "./actions/action.ts";
import { extensionActionSchemaByKind } from "./extensions/extension-actions.ts";
import { allSchemas } from "./schemas.ts";

type Json = Record<string, unknown>;

/** The JSON Schema keywords that every provider supports. */
const copiedKeywords = ["type", "description", "properties", "required", "items", "enum"] as const;

/**
 * The parameters of an action for a model: one plain object schema without references, kinds or choices. Throws for an unknown
 * action kind.
 */
export function toParameters(actionKind: string): Json {
  const schema = [actionSchemaByKind, extensionActionSchemaByKind].find((map) =>
    Object.hasOwn(map, actionKind),
  )?.[actionKind];
  if (schema === undefined) throw new Error(`There is no action kind "${actionKind}".`);
  const { kind: _, ...properties } = (schema as { properties: Record<string, Json> }).properties;
  const required = ((schema as { required?: string[] }).required ?? []).filter((name) => name !== "kind");
  return {
    type: "object",
    properties: plainProperties(properties),
    ...(required.length === 0 ? {} : { required }),
  };
}

function plainProperties(properties: Record<string, Json>): Record<string, Json> {
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, plain(schema)]));
}

/** A nullable field becomes its non-null schema; a reference is replaced by its target. */
function plain(schema: Json): Json {
  const { $ref, anyOf, description } = schema;
  const own = description === undefined ? {} : { description };
  if (typeof $ref === "string") return { ...plain(allSchemas.get($ref) as Json), ...own };
  if (Array.isArray(anyOf)) {
    const [meant] = (anyOf as Json[]).filter((branch) => branch["type"] !== "null");
    return { ...plain(meant!), ...own };
  }
  const result: Json = {};
  for (const keyword of copiedKeywords) {
    if (schema[keyword] !== undefined) result[keyword] = schema[keyword];
  }
  if (result["properties"] !== undefined)
    result["properties"] = plainProperties(result["properties"] as Record<string, Json>);
  if (result["items"] !== undefined) result["items"] = plain(result["items"] as Json);
  return result;
}
