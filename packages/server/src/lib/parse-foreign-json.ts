import { hasMoreValues, maxJsonValues } from "@convoke/protocol";

/** Parses JSON in an untrusted text of a model or provider. Throws for invalid JSON, and for too many values. */
export function parseForeignJson(text: string): unknown {
  // That many values need at least as many characters.
  if (text.length > maxJsonValues && hasMoreValues(Buffer.from(text), maxJsonValues)) {
    throw new SyntaxError(`More than ${maxJsonValues} values are not read.`);
  }
  return JSON.parse(text);
}
