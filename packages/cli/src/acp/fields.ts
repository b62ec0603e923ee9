/** Reading of what the wire leaves open: actions and observations of tools that this release may not know. */
export type Fields = Readonly<Record<string, unknown>>;

export function asFields(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

/** The text of a field, "" when it is none. */
export function textAt(fields: Fields, name: string): string {
  const value = fields[name];
  return typeof value === "string" ? value : "";
}

/** The items of a field, none when it is no list. */
export function listAt(fields: Fields, name: string): readonly unknown[] {
  const value = fields[name];
  return Array.isArray(value) ? value : [];
}

/** The texts of a list of content parts, one below the other. */
export function textOf(parts: readonly unknown[]): string {
  return parts
    .map((part) => textAt(asFields(part), "text"))
    .filter((text) => text !== "")
    .join("\n");
}
