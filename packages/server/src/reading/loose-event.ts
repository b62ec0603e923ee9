/** An event as any object: kinds of this server too, which the union of the wire does not have. */
export type Loose = Readonly<Record<string, unknown>>;

export function at(fields: Loose, key: string): Loose | undefined {
  const value = fields[key];
  return typeof value === "object" && value !== null ? (value as Loose) : undefined;
}

export function text(fields: Loose | null | undefined, key: string): string {
  const value = fields?.[key];
  return typeof value === "string" ? value : "";
}

export function partsOf(content: unknown): readonly Loose[] {
  return Array.isArray(content) ? (content as readonly Loose[]) : [];
}

export function contentText(content: unknown): string {
  return partsOf(content)
    .map((part) => (part["type"] === "image" ? "[picture]" : text(part, "text")))
    .filter((part) => part !== "")
    .join("\n\n");
}

/** Longer outputs are cut; the log has them in full. */
const maxCharacters = 20_000;

export function shortened(body: string): string {
  const left = body.length - maxCharacters;
  return left > 0 ? `${body.slice(0, maxCharacters).toWellFormed()}\n… ${left} more characters` : body;
}
