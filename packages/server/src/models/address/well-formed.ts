/** A value of JSON without halves of surrogate pairs, which strict parsers refuse together with the whole request; the same value where it has none. */
export function wellFormed<Value>(value: Value): Value {
  return fit(value) as Value;
}

function fit(value: unknown): unknown {
  if (typeof value === "string") return value.isWellFormed() ? value : value.toWellFormed();
  if (Array.isArray(value)) {
    const items = value.map(fit);
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  if (typeof value !== "object" || value === null || !isPlain(value)) return value;
  const entries = Object.entries(value);
  const fitted = entries.map(([key, field]) => [fit(key) as string, fit(field)] as const);
  const isSame = fitted.every(
    ([key, field], index) => key === entries[index]![0] && field === entries[index]![1],
  );
  return isSame ? value : Object.fromEntries(fitted);
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** The same for a text of JSON, which may also have halves as escapes: `\ud83d` where `\ude00` does not follow. */
export function wellFormedJson(text: string): string {
  const plain = wellFormed(text);
  if (!/\\u[dD][89a-fA-F]/u.test(plain)) return plain;
  // Escapes are read in order, so that the `u` behind an escaped backslash begins none.
  return plain.replaceAll(
    /\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[dD][89a-fA-F][0-9a-fA-F]{2}|[^])/gu,
    (escape) => (/^\\u[dD][89a-fA-F]..$/u.test(escape) ? "\\ufffd" : escape),
  );
}
