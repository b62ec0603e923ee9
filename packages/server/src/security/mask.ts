import { maskCutText, SecretMask } from "@convoke/tool-host";

/** Fields whose values are the wire's own words or ids; a secret that happens to equal one must not break an event. */
const structuralFields = new Set([
  "id",
  "timestamp",
  "source",
  "kind",
  "type",
  "role",
  "key",
  "tool_name",
  "tool_call_id",
  "action_id",
  "llm_response_id",
  "action_type",
  "observation_type",
  "origin",
  "security_risk",
  "signature",
  "encrypted_content",
  "image_urls",
]);

/**
 * Returns a function that hides the given values in the texts of a JSON document, in all the forms that tool output is
 * masked for, and leaves its structure and binary fields alone.
 */
export function createMask(values: readonly string[]): (json: string) => string {
  if (values.length === 0) return (json) => json;
  const mask = createStreamMask(values);
  const hide = (text: string): string => mask.push(text) + mask.flush();
  return (json) => (hide(json) === json ? json : JSON.stringify(hideIn(JSON.parse(json), hide)));
}

/** Hides the values in a text that comes in pieces, also where a piece ends inside of one. */
export function createStreamMask(values: readonly string[]): SecretMask {
  return new SecretMask(toSecrets(values));
}

/** A text that somebody cut off, without the values and without a telling beginning of one at its end. */
export function maskCut(text: string, values: readonly string[]): string {
  return maskCutText(text, toSecrets(values));
}

function toSecrets(values: readonly string[]): { name: string; value: string }[] {
  return values.map((value) => ({ name: "", value }));
}

function hideIn(value: unknown, hide: (text: string) => string): unknown {
  if (typeof value === "string") return hide(value);
  if (Array.isArray(value)) return value.map((item) => hideIn(item, hide));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [
      key,
      structuralFields.has(key) ? field : hideIn(field, hide),
    ]),
  );
}
