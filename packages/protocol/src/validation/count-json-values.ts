const codes = {
  quote: 0x22,
  backslash: 0x5c,
  comma: 0x2c,
  bracket: 0x5b,
  bracketEnd: 0x5d,
  brace: 0x7b,
  braceEnd: 0x7d,
} as const;

/** Maximum number of values in JSON from outside: numbers, texts, lists and objects together. */
export const maxJsonValues = 200_000;

/** True when the JSON in `bytes` has more than `max` values, counted like {@link countJsonValues}. */
export function hasMoreValues(bytes: Uint8Array, max: number): boolean {
  return countJsonValues(bytes, max) > max;
}

/**
 * Counts the values of the JSON in `bytes` without parsing it: a value of two bytes in a body takes fifty bytes in memory. Stops at one
 * more than `max`. For invalid JSON the result is undefined, but never an error.
 */
export function countJsonValues(bytes: Uint8Array, max: number): number {
  // The whole, and then every value after a comma or at the start of a list or object.
  let values = 1;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === codes.quote) at = endOfText(bytes, at);
    else if (
      byte === codes.comma ||
      (byte === codes.bracket && bytes[at + 1] !== codes.bracketEnd) ||
      (byte === codes.brace && bytes[at + 1] !== codes.braceEnd)
    ) {
      values += 1;
      if (values > max) return values;
    }
  }
  return values;
}

/** Longer texts, such as images, are skipped with `indexOf`, which is many times faster. */
const shortText = 64;

/** Index of the end of the text that begins at `start`. */
function endOfText(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < start + shortText) {
    if (at >= bytes.length || bytes[at] === codes.quote) return at;
    at += bytes[at] === codes.backslash ? 2 : 1;
  }
  // Visits every byte once: from one quote to the next, and back over the backslashes before it.
  for (let from = at; ;) {
    const quote = bytes.indexOf(codes.quote, from);
    if (quote === -1) return bytes.length;
    let backslashes = 0;
    while (quote - backslashes > from && bytes[quote - backslashes - 1] === codes.backslash) backslashes += 1;
    if (backslashes % 2 === 0) return quote;
    from = quote + 1;
  }
}
