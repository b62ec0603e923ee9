import { ToolInputError } from "../../tool.ts";
import type { Hunk, HunkLine } from "./parse-patch.ts";

/** An edited text. `fuzz` is 0 when every line matched exactly. */
export type Edited = { readonly text: string; readonly fuzz: number };

/** A line with its own end, which is empty for a last line without one. */
type Line = { readonly text: string; readonly end: string };

/** Comparisons that ignore white space at the end of lines, or around them. */
const likenesses: readonly { readonly fuzz: number; readonly plain: (text: string) => string }[] = [
  { fuzz: 0, plain: (text) => text },
  { fuzz: 1, plain: (text) => text.trimEnd() },
  { fuzz: 100, plain: (text) => text.trim() },
];
/** Fuzz of a match that is not at the end of the file, though the patch says so. */
const notAtEndFuzz = 10_000;

/**
 * Applies the changes from top to bottom. Unchanged lines keep every byte, and new ones get the line end of most lines. Throws, with
 * the lines that were not found, when a change does not match.
 */
export function applyHunks(path: string, text: string, hunks: readonly Hunk[]): Edited {
  const before = toLines(text);
  const end = before.filter((line) => line.end === "\r\n").length * 2 > before.length ? "\r\n" : "\n";
  const after: Line[] = [];
  let at = 0;
  let fuzz = 0;
  for (const hunk of hunks) {
    const anchor = passAnchors(before, hunk.anchors, at);
    const found = findPlace(path, before, hunk, anchor);
    after.push(...before.slice(at, found.start));
    const edited = edit(before, found.lines, found.start, end);
    after.push(...edited.lines);
    at = edited.next;
    fuzz += anchor.fuzz + found.fuzz;
  }
  after.push(...before.slice(at));
  const isTerminated = before.length === 0 || before.at(-1)!.end !== "";
  return { text: joined(after, end, isTerminated), fuzz };
}

function edit(
  before: readonly Line[],
  lines: readonly HunkLine[],
  start: number,
  end: string,
): { readonly lines: Line[]; readonly next: number } {
  const made: Line[] = [];
  let next = start;
  for (const { type, text } of lines) {
    if (type === "add") made.push({ text, end });
    else {
      if (type === "keep") made.push(before[next]!);
      next += 1;
    }
  }
  return { lines: made, next };
}

type Anchor = { readonly at: number; readonly fuzz: number; readonly isFound: boolean };

/** An anchor that is not found below is skipped: the lines themselves locate the change. */
function passAnchors(before: readonly Line[], anchors: readonly string[], from: number): Anchor {
  let found: Anchor = { at: from, fuzz: 0, isFound: false };
  for (const anchor of anchors) {
    const exact = before.findIndex(({ text }, index) => index >= found.at && text === anchor);
    const alike =
      exact === -1
        ? before.findIndex(({ text }, index) => index >= found.at && text.trim() === anchor.trim())
        : exact;
    if (alike !== -1) found = { at: alike + 1, fuzz: found.fuzz + (exact === -1 ? 1 : 0), isFound: true };
  }
  return found;
}

type Place = { readonly start: number; readonly fuzz: number; readonly lines: readonly HunkLine[] };

function findPlace(path: string, before: readonly Line[], hunk: Hunk, anchor: Anchor): Place {
  const { lines, isAtEnd } = hunk;
  const wanted = lines.filter(({ type }) => type !== "add").map(({ text }) => text);
  if (wanted.length === 0) {
    // Only new lines: after their anchor, or at the end.
    const start = anchor.isFound && !isAtEnd ? anchor.at : before.length;
    return { start, fuzz: 0, lines };
  }
  const place = placeOf(before, wanted, anchor.at, isAtEnd);
  if (place !== null) return { ...place, lines };
  // An empty line that only separates two changes is not a line of the file.
  const last = lines.at(-1)!;
  if (last.type === "keep" && last.text.trim() === "" && wanted.length > 1) {
    const shorter = placeOf(before, wanted.slice(0, -1), anchor.at, isAtEnd);
    if (shorter !== null) return { ...shorter, lines: lines.slice(0, -1) };
  }
  const above = placeOf(before, wanted, 0, false);
  const hint =
    above === null
      ? "Read the file and copy the lines exactly."
      : `They stand on line ${above.start + 1}, above the change before; give changes in the order of the file.`;
  throw new ToolInputError(`${path} does not have these lines: ${quote(wanted)}. ${hint}`);
}

function placeOf(
  before: readonly Line[],
  wanted: readonly string[],
  from: number,
  isAtEnd: boolean,
): Omit<Place, "lines"> | null {
  const last = before.length - wanted.length;
  for (const { fuzz, plain } of likenesses) {
    if (isAtEnd && last >= from && standsAt(before, wanted, last, plain)) return { start: last, fuzz };
  }
  for (const { fuzz, plain } of likenesses) {
    for (let start = from; start <= last; start += 1) {
      if (standsAt(before, wanted, start, plain)) return { start, fuzz: fuzz + (isAtEnd ? notAtEndFuzz : 0) };
    }
  }
  return null;
}

function standsAt(
  before: readonly Line[],
  wanted: readonly string[],
  start: number,
  plain: (text: string) => string,
): boolean {
  return wanted.every((text, index) => plain(before[start + index]!.text) === plain(text));
}

function toLines(text: string): Line[] {
  return Array.from(text.matchAll(/([^\n]*?)(\r?\n|$)/g), ([, line = "", end = ""]) => ({
    text: line,
    end,
  })).filter(({ text: line, end }) => line !== "" || end !== "");
}

/** Only the last line may lack a line end, and only where the last line of the old text was. */
function joined(lines: readonly Line[], end: string, isTerminated: boolean): string {
  const last = lines.length - 1;
  return lines
    .map((line, index) => {
      if (index < last) return line.text + (line.end || end);
      return line.text + (isTerminated ? line.end || end : "");
    })
    .join("");
}

function quote(lines: readonly string[]): string {
  const text = lines.join("\n");
  return JSON.stringify(text.length > 1_000 ? `${text.slice(0, 1_000)}...` : text);
}
