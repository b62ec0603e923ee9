import type { Micros } from "../lib/instant.ts";
import { parseInstant } from "../lib/instant.ts";
import { invalidField } from "../lib/fault.ts";

/** A date-time of the query; null when absent. */
export function readInstantOf(query: Readonly<Record<string, unknown>>, name: string): Micros | null {
  const text = query[name];
  return typeof text === "string" ? readInstant(name, text) : null;
}

/** The date-time that the query has under this name. */
export function readInstant(name: string, text: string): Micros {
  const micros = parseInstant(text);
  if (micros !== null) return micros;
  const message = "This is not a date-time such as 2026-01-31T12:00:00Z.";
  throw invalidField(["query", name], message, "datetime_parsing");
}
