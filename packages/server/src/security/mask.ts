import { maskCutText, SecretMask } from "@convoke/tool-host";
import { hideAt, type MaskedAs } from "./mask-places.ts";

/** Hides secrets in the texts of a JSON document; an event unless it is said to be something else. */
export type Mask = (json: string, as?: MaskedAs) => string;

/**
 * Returns a function that hides the given values in the texts of a JSON document, in all the forms that tool output is
 * masked for, and leaves its structure and binary fields alone. What is inside of a spared text is left as it is.
 */
export function createMask(values: readonly string[], spared: readonly string[] = []): Mask {
  if (values.length === 0) return (json) => json;
  const mask = createStreamMask(values, spared);
  const hide = (text: string): string => mask.push(text) + mask.flush();
  return (json, as = "event") =>
    hide(json) === json ? json : JSON.stringify(hideAt(as, JSON.parse(json), hide));
}

/** Hides the values in a text that comes in pieces, also where a piece ends inside of one. */
export function createStreamMask(values: readonly string[], spared: readonly string[] = []): SecretMask {
  return new SecretMask(toSecrets(values), spared);
}

/** A text that somebody cut off, without the values and without a telling beginning of one at its end. */
export function maskCut(text: string, values: readonly string[]): string {
  return maskCutText(text, toSecrets(values));
}

function toSecrets(values: readonly string[]): { name: string; value: string }[] {
  return values.map((value) => ({ name: "", value }));
}
