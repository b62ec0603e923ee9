import { hasMoreValues, mostJsonValues } from "@convoke/protocol";

/** Parses JSON in an untrusted text of a model or provider. Throws for invalid JSON, and for too many values. */
export function parseForeignJson(text: string): unknown {
  // That many values need at least as many characters.
  if (text.length > mostJsonValues && hasMoreValues(Buffer.from(text), mostJsonValues)) {
    throw new SyntaxError(`More than ${mostJsonValues} values are not read.`);
  }
  return JSON.parse(text);
}
