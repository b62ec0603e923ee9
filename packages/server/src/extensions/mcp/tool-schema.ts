import { isObject, listOf, objectOr, type JsonObject } from "../../lib/json-object.ts";

const deepestLevel = 24;
const longestChars = 64 * 1024;
const anyArguments: JsonObject = { type: "object", properties: {} };

/**
 * The schema of a tool's arguments as models and our checks can use it: an object, references put in place, everything else
 * kept as it is. Of one that is too large for a request, the names of the arguments are kept; what is no schema is "any object".
 */
export function normalizeSchema(schema: unknown, budget: SchemaBudget = openSchemaBudget()): JsonObject {
  if (!isObject(schema)) return anyArguments;
  const meter: Meter = { leftChars: Math.min(longestChars, budget.leftChars) };
  try {
    const inlined = inline(schema, { root: schema, meter }, []) as JsonObject;
    const { $schema: _schema, $id: _id, $defs: _defs, definitions: _definitions, ...rest } = inlined;
    const normal = { ...rest, type: "object", properties: objectOr(rest["properties"]), ...requiredOf(rest) };
    return JSON.stringify(normal).length > longestChars ? namesOnly(schema) : normal;
  } catch (error) {
    if (error instanceof TooLargeError) return namesOnly(schema);
    throw error;
  } finally {
    budget.leftChars -= Math.min(longestChars, budget.leftChars) - Math.max(0, meter.leftChars);
  }
}

/** Any object, and what its arguments are called. The server checks the rest. */
function namesOnly(schema: JsonObject): JsonObject {
  const named = {
    type: "object",
    properties: Object.fromEntries([...argumentNames(schema)].map((name) => [name, {}])),
  };
  return JSON.stringify(named).length > longestChars ? anyArguments : { ...named, ...requiredOf(schema) };
}

/** Every name under which a schema, its parts and what they refer to have an argument; each part is read once. */
function argumentNames(schema: JsonObject): Set<string> {
  const names = new Set<string>();
  const seen = new Set<unknown>();
  const left: unknown[] = [schema];
  while (left.length > 0) {
    const part = left.pop();
    if (!isObject(part) || seen.has(part)) continue;
    seen.add(part);
    for (const name of Object.keys(objectOr(part["properties"]))) names.add(name);
    for (const name of listOf(part["required"])) if (typeof name === "string") names.add(name);
    for (const keyword of ["allOf", "anyOf", "oneOf"]) left.push(...listOf(part[keyword]));
    for (const keyword of ["dependentSchemas", "dependencies"]) {
      const dependents = objectOr(part[keyword]);
      for (const name of Object.keys(dependents)) names.add(name);
      left.push(...Object.values(dependents));
    }
    left.push(part["if"], part["then"], part["else"]);
    const { $ref: reference } = part;
    if (typeof reference === "string") left.push(targetOf(schema, reference));
  }
  return names;
}

/** What the schemas of one server may come to together, once their references are in place. */
export type SchemaBudget = { leftChars: number };

export function openSchemaBudget(): SchemaBudget {
  return { leftChars: 4 * 1024 * 1024 };
}

/** Characters that may still be written; a few references to each other can stand for more than any memory holds. */
type Meter = { leftChars: number };
type Source = { readonly root: JsonObject; readonly meter: Meter };

class TooLargeError extends Error {}

function inline(part: unknown, source: Source, path: readonly string[]): unknown {
  const { root, meter } = source;
  if (path.length > deepestLevel) throw new TooLargeError();
  spend(meter, typeof part === "string" ? part.length + 2 : 1);
  if (Array.isArray(part)) return part.map((item) => inline(item, source, [...path, ""]));
  if (!isObject(part)) return part;
  const { $ref: reference, ...rest } = part;
  const own: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(rest)) {
    if (part === root && (key === "$defs" || key === "definitions")) continue;
    spend(meter, key.length + 3);
    define(own, key, inline(value, source, [...path, ""]));
  }
  if (typeof reference !== "string") return own;
  const target = targetOf(root, reference);
  // What contains itself is cut at the second round; the server still checks it.
  if (!isObject(target) || path.includes(reference)) return own;
  const there = inline(target, source, [...path, reference]) as JsonObject;
  // Both hold, also where both have properties.
  const clashes = Object.keys(own).some((key) => !notes.has(key) && Object.hasOwn(there, key));
  return clashes ? { ...own, allOf: [...listOf(own["allOf"]), there] } : { ...there, ...own };
}

const notes: ReadonlySet<string> = new Set(["title", "description", "default", "examples", "deprecated"]);

/** What a JSON pointer within the schema names; a reference to anything else names nothing here. */
function targetOf(root: JsonObject, reference: string): unknown {
  if (reference === "#") return root;
  if (!reference.startsWith("#/")) return undefined;
  return reference
    .slice(2)
    .split("/")
    .map((step) => decode(step).replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce<unknown>((at, step) => {
      if (typeof at !== "object" || at === null || !Object.hasOwn(at, step)) return undefined;
      return (at as Record<string, unknown>)[step];
    }, root);
}

function decode(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    // A per cent sign that escapes nothing is one of the name.
    return step;
  }
}

function spend(meter: Meter, chars: number): void {
  meter.leftChars -= chars;
  if (meter.leftChars < 0) throw new TooLargeError();
}

/** A property of any name, `__proto__` too. */
function define(object: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
}

function requiredOf(schema: JsonObject): { required?: string[] } {
  const { required } = schema;
  if (!Array.isArray(required)) return {};
  return { required: required.filter((name): name is string => typeof name === "string") };
}
