const codes = {
  quote: 0x22,
  backslash: 0x5c,
  comma: 0x2c,
  bracket: 0x5b,
  bracketEnd: 0x5d,
  brace: 0x7b,
  braceEnd: 0x7d,
} as const;

/** More than any program needs at once; numbers, texts, lists and objects. */
export const mostJsonValues = 200_000;

/** True when the JSON in `bytes` has more than `most` values, told as {@link countJsonValues} does. */
export function hasMoreValues(bytes: Uint8Array, max: number): boolean {
  return countJsonValues(bytes, max) > max;
}

/**
 * How many values the JSON in `bytes` has, without making any of them: a value that takes two bytes in a body takes fifty in
 * memory. Reads no further than to one more than `most`; what is no JSON gets some number.
 */
export function countJsonValues(bytes: Uint8Array, max: number): number {
  // The whole, and then what begins behind a comma or as the first of a list or an object.
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

/** A text that is longer, such as a picture, is jumped through: that is many times faster. */
const shortText = 64;

/** Where the text that begins at `start` ends. */
function endOfText(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < start + shortText) {
    if (at >= bytes.length || bytes[at] === codes.quote) return at;
    at += bytes[at] === codes.backslash ? 2 : 1;
  }
  // Every byte is looked at once: from one quote to the next, and back over the backslashes before it.
  for (let from = at; ;) {
    const quote = bytes.indexOf(codes.quote, from);
    if (quote === -1) return bytes.length;
    let backslashes = 0;
    while (quote - backslashes > from && bytes[quote - backslashes - 1] === codes.backslash) backslashes += 1;
    if (backslashes % 2 === 0) return quote;
    from = quote + 1;
  }
}
