import { Ajv2020 } from "ajv/dist/2020.js";
import type { ValidationError } from "../requests/replies.ts";
import { describeErrors } from "./describe-errors.ts";

export type CheckForeign = (value: unknown) => readonly ValidationError[];

/**
 * Validates against a JSON Schema from outside. A schema that cannot be compiled is not checked. Patterns, uniqueness of items, and
 * recursive references are left out, because hostile ones can keep a processor busy for ever.
 */
export function compileForeignSchema(schema: Readonly<Record<string, unknown>>): CheckForeign {
  const ajv = new Ajv2020({
    strict: false,
    validateSchema: false,
    validateFormats: false,
    logger: false,
    addUsedSchema: false,
  });
  try {
    const validate = ajv.compile(withoutSlow(schema, false) as Record<string, unknown>);
    return (value) => (validate(value) ? [] : describeErrors(validate.errors ?? [], value, []));
  } catch {
    // An invalid schema is its author's mistake; the author's program still checks its input.
    return () => [];
  }
}

const leftOut: ReadonlySet<string> = new Set([
  "pattern",
  "patternProperties",
  "uniqueItems",
  "$dynamicRef",
  "$recursiveRef",
]);

/** Without what a hostile schema could keep a processor busy with. `isNames`: the keys are names of properties, not keywords. */
export function withoutSlow(part: unknown, isNames: boolean): unknown {
  if (Array.isArray(part)) return part.map((item) => withoutSlow(item, false));
  if (typeof part !== "object" || part === null) return part;
  return Object.fromEntries(
    Object.entries(part)
      .filter(([key]) => isNames || !leftOut.has(key))
      .map(([key, value]) => [
        key,
        key === "enum" || key === "const" ? value : withoutSlow(value, key === "properties" && !isNames),
      ]),
  );
}
