import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { ProfileDifference } from "@convoke/protocol";
import { isObject } from "../lib/json-object.ts";
import { hideSecrets } from "./secret-fields.ts";
import type { JsonObject } from "./stored-settings.ts";

/** Fields of an agent profile that say which one it is, not what it does. */
const naming = new Set(["id", "name", "revision", "schema_version"]);

/** SHA-256 of the content with its secrets masked, in hex: the same for the same content under another name. */
export function digestOf(content: JsonObject): string {
  const fields = Object.entries(hideSecrets(content)).filter(([field]) => !naming.has(field));
  return createHash("sha256")
    .update(JSON.stringify(sorted(Object.fromEntries(fields))))
    .digest("hex");
}

/** The fields that two contents have differently; of a secret only that it differs. */
export function differencesOf(from: JsonObject, to: JsonObject): ProfileDifference[] {
  return differencesIn({ plain: from, shown: hideSecrets(from) }, { plain: to, shown: hideSecrets(to) }, []);
}

/** A value as it is stored, and with its secrets masked. */
type Side = { readonly plain: unknown; readonly shown: unknown };

function differencesIn(from: Side, to: Side, path: readonly string[]): ProfileDifference[] {
  if (isDeepStrictEqual(from.plain, to.plain)) return [];
  if (isObject(from.plain) && isObject(to.plain)) {
    const names = [...new Set([...Object.keys(from.plain), ...Object.keys(to.plain)])].toSorted();
    return names.flatMap((name) => differencesIn(fieldOf(from, name), fieldOf(to, name), [...path, name]));
  }
  const isSecret = isHidden(from) || isHidden(to);
  const change = from.plain === undefined ? "added" : to.plain === undefined ? "removed" : "changed";
  return [
    {
      path: [...path],
      change,
      is_secret: isSecret,
      ...(isSecret || from.plain === undefined ? {} : { from: from.plain }),
      ...(isSecret || to.plain === undefined ? {} : { to: to.plain }),
    },
  ];
}

function fieldOf({ plain, shown }: Side, name: string): Side {
  return { plain: valueIn(plain, name), shown: valueIn(shown, name) };
}

function valueIn(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

function isHidden({ plain, shown }: Side): boolean {
  return !isDeepStrictEqual(plain, shown);
}

/** The same value with the fields of its objects in the order of their names. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, field]) => [name, sorted(field)]),
  );
}
