type JsonObject = Readonly<Record<string, unknown>>;

const deepestLevel = 24;
const longestChars = 64 * 1024;
const anyArguments: JsonObject = { type: "object", properties: {} };

/**
 * The schema of a tool's arguments as models and our checks can use it: an object, references put in place, everything else
 * kept as it is. What is no schema, or too large for a request, becomes "any object".
 */
export function normalizeSchema(schema: unknown, budget: SchemaBudget = openSchemaBudget()): JsonObject {
  if (!isObject(schema)) return anyArguments;
  const meter: Meter = { leftChars: Math.min(longestChars, budget.leftChars) };
  try {
    const definitions = { ...objectOr(schema["definitions"]), ...objectOr(schema["$defs"]) };
    const inlined = inline(schema, { definitions, meter }, []) as JsonObject;
    const { $schema: _schema, $id: _id, $defs: _defs, definitions: _definitions, ...rest } = inlined;
    const normal = { ...rest, type: "object", properties: objectOr(rest["properties"]), ...requiredOf(rest) };
    return JSON.stringify(normal).length > longestChars ? anyArguments : normal;
  } catch (error) {
    if (error instanceof TooLargeError) return anyArguments;
    throw error;
  } finally {
    budget.leftChars -= Math.min(longestChars, budget.leftChars) - Math.max(0, meter.leftChars);
  }
}

/** What the schemas of one server may come to together, once their references are in place. */
export type SchemaBudget = { leftChars: number };

export function openSchemaBudget(): SchemaBudget {
  return { leftChars: 4 * 1024 * 1024 };
}

/** Characters that may still be written; a few references to each other can stand for more than any memory holds. */
type Meter = { leftChars: number };
type Source = { readonly definitions: JsonObject; readonly meter: Meter };

class TooLargeError extends Error {}

function inline(part: unknown, source: Source, path: readonly string[]): unknown {
  const { definitions, meter } = source;
  if (path.length > deepestLevel) throw new TooLargeError();
  spend(meter, typeof part === "string" ? part.length + 2 : 1);
  if (Array.isArray(part)) return part.map((item) => inline(item, source, [...path, ""]));
  if (!isObject(part)) return part;
  const { $ref: reference, ...rest } = part;
  const own: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(rest)) {
    if (path.length === 0 && (key === "$defs" || key === "definitions")) continue;
    spend(meter, key.length + 3);
    define(own, key, inline(value, source, [...path, ""]));
  }
  if (typeof reference !== "string") return own;
  const name = /^#\/(?:\$defs|definitions)\/(.+)$/.exec(reference)?.[1];
  const target = name === undefined ? undefined : definitions[name];
  // What contains itself is cut at the second round; the server still checks it.
  if (target === undefined || path.includes(reference)) return own;
  return { ...(inline(target, source, [...path, reference]) as JsonObject), ...own };
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

function objectOr(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
