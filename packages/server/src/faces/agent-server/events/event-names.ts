import { invalidField } from "../../../lib/fault.ts";

/**
 * Resolves the kind in a filter; by the contract an unknown kind has no events. Older clients name it by the path of
 * its class in their language. Source: SDK 1.43.
 */
export function readKind(given: string, field = "kind"): string {
  return readName(given.slice(given.lastIndexOf(".") + 1), field);
}

/** A text that an event contains literally; an empty one is refused, because it would silently find nothing. */
export function readName(given: string, field: string): string {
  if (given !== "") return given;
  throw invalidField(["query", field], `Name a ${field}, or leave this out.`, "string_too_short");
}
