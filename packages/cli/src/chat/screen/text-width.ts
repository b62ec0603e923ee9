import { stripVTControlCharacters } from "node:util";
import { graphemeWidth } from "./grapheme-width.ts";

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** Sequences that take no column: colours, weights, links. */
// oxlint-disable-next-line no-control-regex -- control sequences are what this finds
const sequence = /\u001b\[[0-9;:]*m|\u001b\]8;[^\u0007\u001b]*(?:\u0007|\u001b\\)/y;

/** Columns of a terminal that a text takes; colours take none. */
export function widthOf(text: string): number {
  if (isPlain(text)) return text.length;
  const seen = text.includes("\u001b") ? stripVTControlCharacters(text) : text;
  if (isPlain(seen)) return seen.length;
  let width = 0;
  for (const { segment } of graphemes.segment(seen)) width += graphemeWidth(segment);
  return width;
}

/** The parts of a text that take columns together, such as a letter with its accent. */
export function graphemesOf(text: string): string[] {
  return isPlain(text) ? text.split("") : Array.from(graphemes.segment(text), ({ segment }) => segment);
}

/** The beginning of a line that fits into `columns`, with its colours closed; the whole line where it fits. */
export function cutAt(line: string, columns: number): string {
  if (widthOf(line) <= columns) return line;
  let beginning = "";
  let width = 0;
  let hasColour = false;
  for (const part of partsOf(line)) {
    if (part.startsWith("\u001b")) {
      beginning += part;
      hasColour = true;
      continue;
    }
    const partWidth = widthOf(part);
    if (width + partWidth > columns - 1) break;
    beginning += part;
    width += partWidth;
  }
  return columns < 1 ? "" : `${beginning}${hasColour ? "\u001b[0m" : ""}…`;
}

/** The line with spaces in the place of tabs, whose width depends on where they stand. */
export function withoutTabs(line: string): string {
  if (!line.includes("\t")) return line;
  const [first = "", ...rest] = line.split("\t");
  return rest.reduce((text, part) => `${text}${" ".repeat(8 - (widthOf(text) % 8))}${part}`, first);
}

/** Rows that a line without a break takes in a window of this width. */
export function rowsOf(line: string, columns: number): number {
  return Math.max(1, Math.ceil(widthOf(line) / columns));
}

/** Items beside each other as far as they fit into `columns`, and below each other where they do not; they may have colours. */
export function joinedItems(items: readonly string[], columns: number): string[] {
  const gap = widthOf(items.join("   ")) <= columns ? "   " : "  ";
  const rows: string[] = [];
  for (const item of items) {
    const last = rows.at(-1);
    if (last !== undefined && widthOf(last) + gap.length + widthOf(item) <= columns)
      rows[rows.length - 1] = `${last}${gap}${item}`;
    else rows.push(item);
  }
  return rows;
}

/** A plain text in rows of at most `columns`, between words; a longer word is cut. */
export function wrappedWords(text: string, columns: number): string[] {
  const rows: string[] = [];
  for (const word of text.split(" ")) {
    const last = rows.at(-1);
    if (last !== undefined && widthOf(last) + 1 + widthOf(word) <= columns)
      rows[rows.length - 1] = `${last} ${word}`;
    else rows.push(...wrapped(word, columns));
  }
  return rows;
}

/** A plain text in rows of at most `columns`. */
export function wrapped(text: string, columns: number): string[] {
  const rows = [""];
  let width = 0;
  for (const part of graphemesOf(text)) {
    const partWidth = widthOf(part);
    if (width + partWidth > columns) {
      rows.push("");
      width = 0;
    }
    rows[rows.length - 1] += part;
    width += partWidth;
  }
  return rows;
}

function* partsOf(line: string): Iterable<string> {
  let text = "";
  for (let at = 0; at < line.length;) {
    sequence.lastIndex = at;
    const found = line[at] === "\u001b" ? sequence.exec(line)?.[0] : undefined;
    if (found === undefined) {
      text += line[at];
      at += 1;
      continue;
    }
    yield* graphemesOf(text);
    text = "";
    yield found;
    at += found.length;
  }
  yield* graphemesOf(text);
}

/** Each character of a text in ASCII is one column. */
function isPlain(text: string): boolean {
  return /^[ -~]*$/u.test(text);
}
