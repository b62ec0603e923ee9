/** Kinds of events with commas or spaces between them, each once. */
export function parseKinds(text: string): string[] {
  return [...new Set(text.split(/[\s,]+/u).filter((name) => name !== ""))];
}
