import { maskCutText, SecretMask } from "@convoke/tool-host";
import { hideAt, type MaskedAs } from "./mask-places.ts";

/** Masks secrets in the texts of a JSON document, by default an event. */
export type Mask = (json: string, as?: MaskedAs) => string;

/**
 * Returns a function that masks the given values in the texts of a JSON document, in all forms that are masked in tool
 * output. It leaves structure, binary fields and spared texts unchanged.
 */
export function createMask(values: readonly string[], spared: readonly string[] = []): Mask {
  if (values.length === 0) return (json) => json;
  const mask = createStreamMask(values, spared);
  const hide = (text: string): string => mask.push(text) + mask.flush();
  return (json, as = "event") =>
    hide(json) === json ? json : JSON.stringify(hideAt(as, JSON.parse(json), hide));
}

/** Masks the values in a streamed text, also where a chunk ends inside a value. */
export function createStreamMask(values: readonly string[], spared: readonly string[] = []): SecretMask {
  return new SecretMask(toSecrets(values), spared);
}

/** Masks a truncated text: the values, and a recognisable beginning of one at its end. */
export function maskCut(text: string, values: readonly string[]): string {
  return maskCutText(text, toSecrets(values));
}

function toSecrets(values: readonly string[]): { name: string; value: string }[] {
  return values.map((value) => ({ name: "", value }));
}
