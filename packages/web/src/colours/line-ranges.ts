import type { TokenRanges } from "./token-types.ts";

/** Splits the ranges of a text into ranges per line, with offsets from the start of the line. */
export function rangesOfLines(lines: readonly string[], ranges: TokenRanges): readonly TokenRanges[] {
  let at = 0;
  let offset = 0;
  return lines.map(({ length }) => {
    const start = offset;
    const end = start + length;
    offset = end + 1;
    const own: number[] = [];
    for (; at < ranges.length && ranges[at]! < end; at += 3) {
      const from = Math.max(ranges[at]!, start);
      const to = Math.min(ranges[at + 1]!, end);
      if (from < to) own.push(from - start, to - start, ranges[at + 2]!);
      // The rest of the range is on the next lines.
      if (ranges[at + 1]! > end) break;
    }
    return own;
  });
}
