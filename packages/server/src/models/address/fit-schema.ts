import { isObject, objectOr, type JsonObject as Schema } from "../../lib/json-object.ts";

const mapsOfSchemas = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
]);
const schemas = new Set([
  "items",
  "prefixItems",
  "additionalProperties",
  "additionalItems",
  "unevaluatedProperties",
  "unevaluatedItems",
  "contains",
  "propertyNames",
  "anyOf",
  "oneOf",
  "allOf",
  "not",
  "if",
  "then",
  "else",
]);

/** Calls `see` with each schema inside a schema, itself included, outermost first. */
export function eachSchema(schema: unknown, see: (schema: Schema) => void): void {
  if (Array.isArray(schema)) {
    for (const one of schema) eachSchema(one, see);
    return;
  }
  if (!isObject(schema)) return;
  see(schema);
  for (const [key, value] of Object.entries(schema)) {
    if (mapsOfSchemas.has(key) && isObject(value)) {
      for (const one of Object.values(value)) eachSchema(one, see);
    } else if (schemas.has(key)) eachSchema(value, see);
  }
}

/** A copy of a schema in which every list says what it holds, without the keywords in `omitted`. */
export function fitSchema(schema: Schema, omitted: ReadonlySet<string>): Schema {
  return fitAny(schema, omitted) as Schema;
}

function fitAny(schema: unknown, omitted: ReadonlySet<string>): unknown {
  if (Array.isArray(schema)) return schema.map((one) => fitAny(one, omitted));
  if (!isObject(schema)) return schema;
  const fitted = Object.entries(schema).flatMap(([key, value]): [string, unknown][] => {
    if (omitted.has(key) || (omitted.has("lookaround") && key === "pattern" && hasLookaround(value)))
      return [];
    if (mapsOfSchemas.has(key) && isObject(value)) {
      return [
        [key, Object.fromEntries(Object.entries(value).map(([name, one]) => [name, fitAny(one, omitted)]))],
      ];
    }
    return [[key, schemas.has(key) ? fitAny(value, omitted) : value]];
  });
  return { ...Object.fromEntries(fitted), ...(lacksItems(schema) ? { items: {} } : {}) };
}

/** True for a pattern that only engines with lookaround can match. */
export function hasLookaround(pattern: unknown): boolean {
  return typeof pattern === "string" && /\(\?<?[=!]/u.test(pattern);
}

/** True for a list schema that does not describe its items, which OpenAI and Google refuse. */
function lacksItems(schema: Schema): boolean {
  const { type } = schema;
  const isList = type === "array" || (Array.isArray(type) && type.includes("array"));
  return isList && !("items" in schema) && !("prefixItems" in schema);
}

const plainKeywords = new Set([
  "type",
  "properties",
  "required",
  "description",
  "enum",
  "items",
  "title",
  "default",
]);

const plainTypes = new Set<unknown>(["object", "array", "string", "number", "integer", "boolean"]);

/** True where a property has a name that not every provider takes, such as one with a blank. */
function hasOddNames(properties: unknown): boolean {
  return isObject(properties) && Object.keys(properties).some((name) => !/^[\w.-]{1,64}$/u.test(name));
}

/** True for a schema of nothing but what every provider takes. */
export function isPlainSchema(schema: Schema): boolean {
  let isPlain = true;
  eachSchema(schema, (one) => {
    const isOdd =
      Object.keys(one).some((key) => !plainKeywords.has(key)) ||
      !plainTypes.has(one["type"]) ||
      hasOddNames(one["properties"]) ||
      lacksItems(one) ||
      lacksRequired(one);
    if (isOdd) isPlain = false;
  });
  return isPlain;
}

/** True where something is required that is not described. */
function lacksRequired({ required, properties }: Schema): boolean {
  return (
    Array.isArray(required) && required.some((name) => !Object.hasOwn(objectOr(properties), String(name)))
  );
}
