import { invalidField } from "../../lib/fault.ts";

/**
 * The kind that a filter names; one that nobody knows has no events, by the contract. Older clients name it by the path of its class in
 * their language. Source: SDK 1.43.
 */
export function readKind(given: string, field = "kind"): string {
  return readName(given.slice(given.lastIndexOf(".") + 1), field);
}

/** A text that an event has as it is; an empty one would find nothing and say nothing. */
export function readName(given: string, field: string): string {
  if (given !== "") return given;
  throw invalidField(["query", field], `Name a ${field}, or leave this out.`, "string_too_short");
}
