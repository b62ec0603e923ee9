/** What came from a log or a server and may have any shape: logs are read for ever, also those of later versions. */
export type Loose = Readonly<Record<string, unknown>>;

export function asLoose(value: unknown): Loose | null {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Loose) : null;
}

export function looseAt(value: Loose | null | undefined, key: string): Loose | null {
  return asLoose(value?.[key]);
}

/** Empty when there is no text. */
export function textAt(value: Loose | null | undefined, key: string): string {
  const found = value?.[key];
  return typeof found === "string" ? found : "";
}

export function numberAt(value: Loose | null | undefined, key: string): number | null {
  const found = value?.[key];
  return typeof found === "number" ? found : null;
}

export function listAt(value: Loose | null | undefined, key: string): readonly unknown[] {
  const found = value?.[key];
  return Array.isArray(found) ? found : [];
}

export function textsAt(value: Loose | null | undefined, key: string): readonly string[] {
  return listAt(value, key).filter((item) => typeof item === "string");
}
