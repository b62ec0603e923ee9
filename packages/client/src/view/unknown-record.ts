/** An object from a log or server, of unknown shape: logs of all versions must be readable. */
export type UnknownRecord = Readonly<Record<string, unknown>>;

export function asRecord(value: unknown): UnknownRecord | null {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as UnknownRecord)
    : null;
}

export function recordAt(value: UnknownRecord | null | undefined, key: string): UnknownRecord | null {
  return asRecord(value?.[key]);
}

/** Empty if the value is not a string. */
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
