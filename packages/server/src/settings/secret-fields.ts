import { isDeepStrictEqual } from "node:util";
import { invalidField } from "../lib/fault.ts";
import { hideUrlSecrets, restoreUrlSecrets, urlHas } from "../security/url-secrets.ts";
import type { JsonObject } from "./stored-settings.ts";
import { isObject } from "../lib/json-object.ts";

/** What stands for a stored secret wherever it would be shown; sent back, it means "as it is". */
export const secretMask = "**********";

const namedLikeSecret =
  /(^|_)(api_?key|key_id|access_key|secret|token|password|passwd|credential|authorization|cookie)s?$/i;
const secretMaps = new Set(["env", "environment", "headers", "extra_headers"]);
const credentials = new Set(["auth", "authentication"]);
/** Fields with an address, which may have a password or a key in it. */
const addresses = new Set(["url", "base_url", "ollama_base_url", "aws_bedrock_runtime_endpoint"]);
const shownInCredentials = new Set(["strategy", "type", "header_name", "username", "oauth"]);

/** How the texts below a field are secret: not at all, every one by itself, or as values of a map whose names are the user's. */
type Secrecy = "no" | "field" | "entry";

function secrecyOf(key: string, parent: string | null): Secrecy {
  if (parent !== null && secretMaps.has(parent)) return "entry";
  if (parent !== null && credentials.has(parent)) return shownInCredentials.has(key) ? "no" : "field";
  return namedLikeSecret.test(key) || credentials.has(key) ? "field" : "no";
}

/** How a stored secret is shown: as a fixed text, as nothing, or as what a function makes of it. */
export type ShownAs = string | null | ((secret: string) => string);

/** A copy in which every secret is the mask, or what `shownAs` says; what is not set stays null. */
export function hideSecrets(value: JsonObject, shownAs: ShownAs = secretMask): JsonObject {
  return hideIn(value, null, shownAs) as JsonObject;
}

function hideIn(value: unknown, parent: string | null, shownAs: ShownAs): unknown {
  if (Array.isArray(value)) return value.map((item) => hideIn(item, null, shownAs));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => {
      const secrecy = secrecyOf(key, parent);
      if (addresses.has(key) && secrecy === "no" && typeof field === "string")
        return [key, hideUrl(field, shownAs)];
      const isSecret = secrecy !== "no";
      if (isSecret && Array.isArray(field)) return [key, field.map((item) => hideText(item, shownAs))];
      return [
        key,
        isSecret && typeof field === "string" ? hideText(field, shownAs) : hideIn(field, key, shownAs),
      ];
    }),
  );
}

function hideText(value: unknown, shownAs: ShownAs): unknown {
  if (typeof value !== "string") return hideIn(value, null, shownAs);
  if (value === "") return "";
  return typeof shownAs === "function" ? shownAs(value) : shownAs;
}

/** An address keeps its form, so that clients that read it keep working. */
export function hideUrl(url: string, shownAs: ShownAs = secretMask): string {
  return hideUrlSecrets(url, (secret) => (typeof shownAs === "function" ? shownAs(secret) : secretMask));
}

/**
 * A change in which null removes a secret too, as RFC 7386 has it. Elsewhere null keeps it, because older clients send back
 * the null that they were shown.
 */
export function nullRemovesSecrets(change: JsonObject): JsonObject {
  return nullRemovesIn(change, null) as JsonObject;
}

function nullRemovesIn(value: unknown, parent: string | null): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [
      key,
      field === null && secrecyOf(key, parent) === "field" ? "" : nullRemovesIn(field, key),
    ]),
  );
}

/**
 * Merges a change into a stored object: objects are merged, null removes, everything else replaces. Secrets are kept when the
 * change has null or their mask in their place, and removed by an empty text. A mask anywhere else is a fault at `loc`.
 */
export function mergeChange(stored: JsonObject, change: JsonObject, loc: readonly string[]): JsonObject {
  return mergeIn(stored, change, null, loc);
}

function mergeIn(
  stored: JsonObject,
  change: JsonObject,
  parent: string | null,
  loc: readonly (string | number)[],
): JsonObject {
  const merged: Record<string, unknown> = { ...stored };
  for (const [key, value] of Object.entries(change)) {
    const secrecy = secrecyOf(key, parent);
    const place = [...loc, key];
    if (isObject(value)) {
      const before = Object.hasOwn(stored, key) ? stored[key] : null;
      set(merged, key, mergeIn(isObject(before) ? before : {}, value, key, place));
    } else if (addresses.has(key) && typeof value === "string" && typeof stored[key] === "string") {
      const restored = restoreUrlSecrets(value, stored[key], secretMask);
      if (restored === null) refuseMasks(value, place);
      set(merged, key, restored ?? value);
    } else if (secrecy !== "no" && value === secretMask) {
      continue;
    } else if (secrecy === "field" && value === null) {
      continue;
    } else if (value === null || (secrecy === "field" && value === "")) {
      delete merged[key];
    } else {
      refuseMasks(value, place);
      set(merged, key, value);
    }
  }
  return merged;
}

/** Plain assignment would follow a name such as `__proto__`. */
function set(target: object, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}

/** The mask stands for one stored secret; in any other place it is nothing that could be meant. */
export function refuseMasks(value: unknown, loc: readonly (string | number)[]): void {
  if (value === secretMask || (typeof value === "string" && urlHas(value, secretMask))) {
    throw invalidField(
      [...loc],
      "This is the mask of a stored secret. Send the value itself, or leave it out.",
    );
  }
  if (Array.isArray(value)) for (const [index, item] of value.entries()) refuseMasks(item, [...loc, index]);
  else if (isObject(value))
    for (const [key, field] of Object.entries(value)) refuseMasks(field, [...loc, key]);
}

/**
 * A copy in which a mask that stands for no stored secret is an empty text, as clients that read a configuration mean it; `onFound` is
 * told where each was.
 */
export function emptyMasks<Value>(value: Value, loc: Location, onFound: (loc: Location) => void): Value {
  return emptyIn(value, loc, onFound) as Value;
}

type Location = readonly (string | number)[];

function emptyIn(value: unknown, loc: Location, onFound: (loc: Location) => void): unknown {
  if (typeof value === "string") {
    if (value !== secretMask && !urlHas(value, secretMask)) return value;
    onFound(loc);
    return value === secretMask
      ? ""
      : hideUrlSecrets(value, (secret) => (secret === secretMask ? "" : secret));
  }
  if (Array.isArray(value)) return value.map((item, index) => emptyIn(item, [...loc, index], onFound));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [key, emptyIn(field, [...loc, key], onFound)]),
  );
}

/** The part of `given` that is not already so in `shown`: what a client sends back unread is no change. */
export function onlyChanges(given: JsonObject, shown: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(given).flatMap(([key, value]): [string, unknown][] => {
      const now = Object.hasOwn(shown, key) ? shown[key] : undefined;
      if (isDeepStrictEqual(value, now)) return [];
      return [[key, isObject(value) && isObject(now) ? onlyChanges(value, now) : value]];
    }),
  );
}

/** A single secret after a change: unchanged, removed, or replaced. */
export function changeSecret(stored: string | null, change: string | null | undefined): string | null {
  if (change === undefined || change === null || change === secretMask) return stored;
  return change.trim() === "" ? null : change;
}
