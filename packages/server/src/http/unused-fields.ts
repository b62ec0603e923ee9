import type { UnusedField } from "@convoke/protocol/validate";
import type { FieldFault } from "../lib/fault.ts";

/** A conversation's log can list more, but no header holds them all. */
const maxInHeader = 20;
const longestName = 200;

/** Unknown fields that are no typos of known ones, by their path in the request, such as `agent.colour`. */
export function namesOfUnused(found: readonly UnusedField[]): string[] {
  const names = found
    .filter(({ meant }) => meant === null)
    .map(({ loc }) => loc.slice(1).join(".").slice(0, longestName));
  return [...new Set(names)];
}

/** Typos of known fields: their sender relies on the effect. */
export function faultsOfUnused(found: readonly UnusedField[]): FieldFault[] {
  return found.flatMap(({ loc, meant }) =>
    meant === null
      ? []
      : [
          {
            loc: [...loc],
            msg: `There is no such field. Did you mean ${meant}? Rename it, or leave it out.`,
            type: "extra_forbidden",
          },
        ],
  );
}

/** On one line, for answers without a list. */
export function describeFaults(
  faults: readonly { readonly loc: readonly (string | number)[]; readonly msg: string }[],
): string {
  return faults.map(({ loc, msg }) => `${loc.join(".")}: ${msg}`).join("; ");
}

/** The warning header (RFC 7234, 5.5; 299 is a persistent one), which clients can ignore. */
export function warningHeader(unused: readonly string[]): string {
  const named = unused.slice(0, maxInHeader).map((name) => encodeURI(name).replaceAll(/["\\]/g, "_"));
  const more = unused.length > maxInHeader ? ` and ${unused.length - maxInHeader} more` : "";
  return `299 - "These fields change nothing here: ${named.join(", ")}${more}"`;
}
