export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The object itself, or an empty one for what is none. */
export function objectOr(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** The text without white space around it; null for none, and for what is no text. */
export function textOf(value: unknown): string | null {
  return typeof value === "string" && value.trim() !== "" ? value.trim() : null;
}

/** The list itself, or an empty one for what is none. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The value at a path of names and places with dots between them; undefined where there is none. */
export function valueAt(value: unknown, path: string): unknown {
  let found = value;
  for (const step of path.split(".")) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, step)) return undefined;
    found = (found as JsonObject)[step];
  }
  return found;
}

/** The object in a JSON text; null for what is no JSON, and for any other value. */
export function parseObject(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    // No JSON.
    return null;
  }
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    // That is the question.
    return false;
  }
}
