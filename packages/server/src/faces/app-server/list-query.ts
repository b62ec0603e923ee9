import type { Micros } from "../../lib/instant.ts";
import { parseInstant } from "../../lib/instant.ts";
import { invalidField } from "../../lib/fault.ts";

/** A date-time of the query; null when absent. */
export function readInstantOf(query: Readonly<Record<string, unknown>>, name: string): Micros | null {
  const text = query[name];
  if (typeof text !== "string") return null;
  const micros = parseInstant(text);
  if (micros !== null) return micros;
  throw invalidField(
    ["query", name],
    "This is not a date-time such as 2026-01-31T12:00:00Z.",
    "datetime_parsing",
  );
}
