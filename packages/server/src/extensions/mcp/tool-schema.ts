type JsonObject = Readonly<Record<string, unknown>>;

const deepestLevel = 24;
const longestChars = 64 * 1024;
const anyArguments: JsonObject = { type: "object", properties: {} };

/**
 * The schema of a tool's arguments as models and our checks can use it: an object, references put in place, everything else
 * kept as it is. What is no schema, or too large for a request, becomes "any object".
 */
export function normalizeSchema(schema: unknown): JsonObject {
  if (!isObject(schema)) return anyArguments;
  try {
    const definitions = { ...objectOr(schema["definitions"]), ...objectOr(schema["$defs"]) };
    const inlined = inline(schema, definitions, []) as JsonObject;
    const { $schema: _schema, $id: _id, $defs: _defs, definitions: _definitions, ...rest } = inlined;
    const normal = { ...rest, type: "object", properties: objectOr(rest["properties"]), ...requiredOf(rest) };
    return JSON.stringify(normal).length > longestChars ? anyArguments : normal;
  } catch (error) {
    if (error instanceof TooLargeError) return anyArguments;
    throw error;
  }
}

class TooLargeError extends Error {}

function inline(part: unknown, definitions: JsonObject, path: readonly string[]): unknown {
  if (path.length > deepestLevel) throw new TooLargeError();
  if (Array.isArray(part)) return part.map((item) => inline(item, definitions, [...path, ""]));
  if (!isObject(part)) return part;
  const { $ref: reference, ...rest } = part;
  const own = Object.fromEntries(
    Object.entries(rest)
      .filter(([key]) => path.length > 0 || (key !== "$defs" && key !== "definitions"))
      .map(([key, value]) => [key, inline(value, definitions, [...path, ""])]),
  );
  if (typeof reference !== "string") return own;
  const name = /^#\/(?:\$defs|definitions)\/(.+)$/.exec(reference)?.[1];
  const target = name === undefined ? undefined : definitions[name];
  // What contains itself is cut at the second round; the server still checks it.
  if (target === undefined || path.includes(reference)) return own;
  return { ...(inline(target, definitions, [...path, reference]) as JsonObject), ...own };
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
