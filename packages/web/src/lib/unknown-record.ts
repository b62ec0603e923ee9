/** What came from a log or a server and may have any shape: logs are read for ever, also those of later versions. */
export type UnknownRecord = Readonly<Record<string, unknown>>;

export function asRecord(value: unknown): UnknownRecord | null {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as UnknownRecord)
    : null;
}

export function recordAt(value: UnknownRecord | null | undefined, key: string): UnknownRecord | null {
  return asRecord(value?.[key]);
}

/** Empty when there is no text. */
export function textAt(value: UnknownRecord | null | undefined, key: string): string {
  const found = value?.[key];
  return typeof found === "string" ? found : "";
}

export function numberAt(value: UnknownRecord | null | undefined, key: string): number | null {
  const found = value?.[key];
  return typeof found === "number" ? found : null;
}

export function listAt(value: UnknownRecord | null | undefined, key: string): readonly unknown[] {
  const found = value?.[key];
  return Array.isArray(found) ? found : [];
}

export function textsAt(value: UnknownRecord | null | undefined, key: string): readonly string[] {
  return listAt(value, key).filter((item) => typeof item === "string");
}
