import type { Pieces } from "./looks.ts";

/** The pieces of each of several lines that were read as one text, with places counted from the beginning of the line. */
export function piecesOfLines(lines: readonly string[], pieces: Pieces): readonly Pieces[] {
  let at = 0;
  let offset = 0;
  return lines.map(({ length }) => {
    const start = offset;
    const end = start + length;
    offset = end + 1;
    const own: number[] = [];
    for (; at < pieces.length && pieces[at]! < end; at += 3) {
      const from = Math.max(pieces[at]!, start);
      const to = Math.min(pieces[at + 1]!, end);
      if (from < to) own.push(from - start, to - start, pieces[at + 2]!);
      // The rest of it is on the lines that follow.
      if (pieces[at + 1]! > end) break;
    }
    return own;
  });
}
