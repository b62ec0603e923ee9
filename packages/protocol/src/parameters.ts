import { actionSchemaByKind } from "./actions/action.ts";
import { extensionActionSchemaByKind } from "./extensions/extension-actions.ts";
import { allSchemas } from "./schemas.ts";

type Json = Record<string, unknown>;

/** The JSON Schema keywords that every provider understands. */
const copiedKeywords = ["type", "description", "properties", "required", "items", "enum"] as const;

/**
 * The arguments of an action as a model sees them: one plain object schema without references, kinds or choices.
 * Throws on a kind that is not an action of ours.
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

/** A nullable field is described by what it is when it is not null; a reference by what it refers to. */
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
