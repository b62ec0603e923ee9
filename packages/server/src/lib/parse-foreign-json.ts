import { hasMoreValues, mostJsonValues } from "@convoke/protocol";

/** The JSON in a text that a model wrote, or who answers in its place. Throws for what is no JSON, and for more values than anybody needs. */
export function parseForeignJson(text: string): unknown {
  // So many values need at least as many characters.
  if (text.length > mostJsonValues && hasMoreValues(Buffer.from(text), mostJsonValues)) {
    throw new SyntaxError(`More than ${mostJsonValues} values are not read.`);
  }
  return JSON.parse(text);
}
