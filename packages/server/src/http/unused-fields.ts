import type { UnusedField } from "@convoke/protocol/validate";
import type { FieldFault } from "../lib/fault.ts";

/** More go into the log of a conversation, and no header holds them all. */
const maxInHeader = 20;
const longestName = 200;

/** Those that nobody can have meant as another one, by their path in the request, such as `agent.colour`. */
export function namesOfUnused(found: readonly UnusedField[]): string[] {
  const names = found
    .filter(({ meant }) => meant === null)
    .map(({ loc }) => loc.slice(1).join(".").slice(0, longestName));
  return [...new Set(names)];
}

/** Near misses of fields that exist: whoever sends one relies on what it would do. */
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

/** On one line, for where an answer has no list. */
export function describeFaults(
  faults: readonly { readonly loc: readonly (string | number)[]; readonly msg: string }[],
): string {
  return faults.map(({ loc, msg }) => `${loc.join(".")}: ${msg}`).join("; ");
}

/** The answer's own warning (RFC 7234, 5.5, where 299 is one that stays true), which clients without a use for it pass over. */
export function warningHeader(unused: readonly string[]): string {
  const named = unused.slice(0, maxInHeader).map((name) => encodeURI(name).replaceAll(/["\\]/g, "_"));
  const more = unused.length > maxInHeader ? ` and ${unused.length - maxInHeader} more` : "";
  return `299 - "These fields change nothing here: ${named.join(", ")}${more}"`;
}
