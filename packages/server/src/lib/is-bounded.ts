export type ValueBounds = {
  /** Values of all kinds, containers too. */
  readonly maxValues: number;
  readonly maxLevels: number;
  /** Of texts and names of fields. */
  readonly maxChars: number;
};

/**
 * True when an untrusted parsed value is small enough for later code to walk, copy and write it; stops at the first
 * excess.
 */
export function isBounded(value: unknown, { maxValues, maxLevels, maxChars }: ValueBounds): boolean {
  let values = 0;
  let chars = 0;
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > maxLevels) return false;
    const next: unknown[] = [];
    for (const part of level) {
      values += 1;
      if (typeof part === "string") chars += part.length;
      if (values + next.length > maxValues || chars > maxChars) return false;
      if (typeof part !== "object" || part === null) continue;
      for (const key in part) {
        if (!Array.isArray(part)) chars += key.length;
        next.push((part as Record<string, unknown>)[key]);
        if (values + next.length > maxValues || chars > maxChars) return false;
      }
    }
    level = next;
  }
  return true;
}
