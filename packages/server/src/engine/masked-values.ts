import type { SecretSource } from "@convoke/protocol";
import { emptyMasks } from "../settings/secret-fields.ts";
import type { Warning } from "../events/warning.ts";
import { withoutUndefined } from "../lib/without-undefined.ts";

/** Removes masks of secrets that are not stored from a request, with warnings. */
export type Unmasked<Value> = { readonly value: Value; readonly warnings: readonly Warning[] };

/** A part of a request; a mask in it becomes an empty value. `loc` is the path of the part. */
export function unmasked<Value>(value: Value, loc: readonly string[]): Unmasked<Value> {
  const fields: string[] = [];
  const emptied = emptyMasks(value, loc, (place) => fields.push(place.join(".")));
  return fields.length === 0
    ? { value, warnings: [] }
    : { value: emptied, warnings: [maskedValuesEmpty(fields)] };
}

/** Secrets of an existing conversation: a masked value means the stored one of its name. */
export function unmaskedSources(
  sources: Readonly<Record<string, SecretSource>>,
  stored: Readonly<Record<string, SecretSource>>,
): Unmasked<Record<string, SecretSource>> {
  const read = Object.entries(sources).map(([name, source]) => {
    const one = unmasked(source, ["secrets", name]);
    const known = one.warnings.length > 0 && Object.hasOwn(stored, name) ? stored[name] : undefined;
    const { hosts, as, shape } = source;
    const value = known && { ...known, ...withoutUndefined({ hosts, as, shape }) };
    return { name, value: value ?? one.value, warnings: known === undefined ? one.warnings : [] };
  });
  return {
    value: Object.fromEntries(read.map(({ name, value }) => [name, value])),
    warnings: read.flatMap(({ warnings }) => warnings),
  };
}

const maxNamed = 20;

function maskedValuesEmpty(fields: readonly string[]): Warning {
  const shown = fields.slice(0, maxNamed);
  const others = fields.length > maxNamed ? ` and ${fields.length - maxNamed} more` : "";
  const detail =
    `These fields held the mask of a secret that this server has not stored, and are empty: ${shown.join(", ")}${others}. ` +
    "Send the secret itself where it is needed.";
  return { code: "masked_values_empty", detail, fields: shown };
}
