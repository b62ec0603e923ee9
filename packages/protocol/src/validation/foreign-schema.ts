import { Ajv2020 } from "ajv/dist/2020.js";
import type { ValidationError } from "../requests/replies.ts";
import { describeErrors } from "./describe-errors.ts";

export type CheckForeign = (value: unknown) => readonly ValidationError[];

/**
 * A check against a JSON Schema that somebody else wrote. What cannot be compiled is not checked; patterns are left out,
 * because a hostile one can keep a processor busy for ever.
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
    const validate = ajv.compile(withoutPatterns(schema, false) as Record<string, unknown>);
    return (value) => (validate(value) ? [] : describeErrors(validate.errors ?? [], value, []));
  } catch {
    // Nonsense in a schema is its author's mistake; the author's program still checks what it gets.
    return () => [];
  }
}

/** `isNames`: the keys are names of properties, not keywords. */
function withoutPatterns(part: unknown, isNames: boolean): unknown {
  if (Array.isArray(part)) return part.map((item) => withoutPatterns(item, false));
  if (typeof part !== "object" || part === null) return part;
  return Object.fromEntries(
    Object.entries(part)
      .filter(([key]) => isNames || (key !== "pattern" && key !== "patternProperties"))
      .map(([key, value]) => [
        key,
        key === "enum" || key === "const" ? value : withoutPatterns(value, key === "properties" && !isNames),
      ]),
  );
}
