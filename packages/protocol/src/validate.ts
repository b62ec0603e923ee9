import type { Static, TSchema } from "typebox";
import type { ValidationError } from "./requests/replies.ts";
import { allSchemas } from "./schemas.ts";
import { type Compile, openAjv } from "./validation/open-ajv.ts";
import { describeErrors, type Location } from "./validation/describe-errors.ts";

export { compileForeignSchema, type CheckForeign } from "./validation/foreign-schema.ts";
export { answerSchemaFault } from "./validation/answer-schema.ts";
export { findUnusedFields, type UnusedField } from "./validation/unused-fields.ts";
export { editDistance, nearMiss } from "./validation/near-miss.ts";
export { readBoolean, readQuery, type RawQuery } from "./validation/read-query.ts";
export type { Location } from "./validation/describe-errors.ts";
export type { ValidationError } from "./requests/replies.ts";

/** A valid value with defaults filled in, or all its errors. */
export type Checked<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly errors: ValidationError[] };

export interface Validator {
  /**
   * Validates a value against a schema and fills in defaults. Modifies the value, so the caller must own it. `prefix` is prepended to
   * every `loc`, such as `["body"]`.
   */
  check<S extends TSchema>(schema: S, value: unknown, prefix?: Location): Checked<Static<S>>;
  check<T>(schema: TSchema, value: unknown, prefix?: Location): Checked<T>;
}

/** Above this many values only the first error is reported, so that a hostile body cannot produce millions. */
const maxValuesForAllErrors = 10_000;

/** Of all validators of the process: a compiled schema depends on the schema alone, and takes milliseconds to make. */
const compilers: { firstError?: Compile; allErrors?: Compile } = {};

/** A validator that compiles each schema on first use, once in a process. */
export function createValidator(): Validator {
  function check<T>(schema: TSchema, value: unknown, prefix: Location = []): Checked<T> {
    try {
      return checkDeep<T>(schema, value, prefix);
    } catch (error) {
      // Only recursive schemas can exhaust the stack, on a value built for it.
      if (!(error instanceof RangeError)) throw error;
      const msg = "Send a value that is nested less deeply.";
      return { ok: false, errors: [{ loc: [...prefix], msg, type: "recursion_loop" }] };
    }
  }

  function checkDeep<T>(schema: TSchema, value: unknown, prefix: Location): Checked<T> {
    compilers.firstError ??= openAjv(allSchemas, false);
    let validate = compilers.firstError(schema);
    if (validate(value)) return { ok: true, value: value as T };
    if (isSmall(value)) {
      compilers.allErrors ??= openAjv(allSchemas, true);
      validate = compilers.allErrors(schema);
      validate(value);
    }
    return { ok: false, errors: describeErrors(validate.errors ?? [], value, prefix) };
  }
  return { check };
}

function isSmall(value: unknown): boolean {
  const waiting: unknown[] = [value];
  let seen = 0;
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next !== "object" || next === null) continue;
    for (const part of Object.values(next)) {
      seen += 1;
      if (seen > maxValuesForAllErrors) return false;
      waiting.push(part);
    }
  }
  return true;
}
