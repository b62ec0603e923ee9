import { answerSchemaFault } from "@convoke/protocol/validate";
import { invalidField } from "../../../lib/fault.ts";
import type { JsonObject } from "../../../lib/json-object.ts";

/** A JSON Schema of answers from a request; undefined for none. Throws a 422 that names the field for one that cannot be used. */
export function readResponseSchema(
  given: JsonObject | null | undefined,
  loc: readonly (string | number)[],
): JsonObject | undefined {
  if (given === null || given === undefined) return undefined;
  const fault = answerSchemaFault(given);
  if (fault !== null) throw invalidField([...loc, "response_schema"], fault);
  return given;
}
