import { ToolInputError } from "../../tool.ts";
import { readControls } from "./show-controls.ts";

/** An edited text, and the lines of it (1-based, inclusive) that the edit wrote; `last` is `first - 1` when it only removed text. */
export type Edit = { readonly text: string; readonly first: number; readonly last: number };

/**
 * Replaces the only occurrence of `oldText`. Line ends match in any form; the replacement gets the text's prevailing form, and every
 * byte outside the passage stays.
 */
export function replacePassage(text: string, oldText: string, newText: string): Edit {
  const [wanted, replacement] = [readControls(text, oldText), readControls(text, newText)];
  if (wanted === "")
    throw new ToolInputError(
      "Invalid parameter old_str: it is empty, so it occurs everywhere. Give the text to replace.",
    );
  if (wanted === replacement) {
    throw new ToolInputError(
      `Invalid parameter new_str: it equals old_str (${quote(wanted)}), so nothing would change.`,
    );
  }
  const plain = withPlainLineEnds(text);
  const { found, places } = findPassage(plain, withPlainLineEnds(wanted));
  const [place] = places;
  if (place === undefined) {
    throw new ToolInputError(
      `Invalid parameter old_str: the file does not contain ${quote(wanted)}. View the file and copy the text exactly.`,
    );
  }
  if (places.length > 1) {
    const lines = [...new Set(places.map((offset) => lineAt(plain, offset)))].join(", ");
    throw new ToolInputError(
      `Invalid parameter old_str: ${quote(wanted)} occurs ${places.length} times, starting on lines ${lines}. Add lines around it so that it occurs once.`,
    );
  }
  const inserted = fitted(text, wanted, replacement);
  const start = originalOffset(text, place);
  const edited = text.slice(0, start) + inserted + text.slice(originalOffset(text, place + found.length));
  if (edited === text)
    throw new ToolInputError(
      "Invalid parameter new_str: the file already reads like that, so nothing would change.",
    );
  const first = lineAt(plain, place);
  return { text: edited, first, last: first + countLineEnds(inserted) };
}

/**
 * Replaces every occurrence of `oldText`; there must be `count`. Line ends are handled as by {@link replacePassage}. `first` and
 * `last` are the lines of the first occurrence.
 */
export function replacePassages(text: string, oldText: string, newText: string, count: number): Edit {
  const [wanted, replacement] = [readControls(text, oldText), readControls(text, newText)];
  if (wanted === replacement)
    throw new ToolInputError(
      `Invalid parameter new_string: it equals old_string (${quote(wanted)}), so nothing would change.`,
    );
  const plain = withPlainLineEnds(text);
  const found = withPlainLineEnds(wanted);
  const places = occurrences(plain, found);
  const [first] = places;
  if (first === undefined)
    throw new ToolInputError(
      `Invalid parameter old_string: the file does not contain ${quote(wanted)}. Read the file and copy the text exactly.`,
    );
  if (places.length !== count) {
    const lines = [...new Set(places.map((offset) => lineAt(plain, offset)))].join(", ");
    throw new ToolInputError(
      `Invalid parameter expected_replacements: ${count} expected, but ${quote(wanted)} occurs ${places.length} times, starting on lines ${lines}. Nothing was changed.`,
    );
  }
  const inserted = fitted(text, wanted, replacement);
  let edited = "";
  let from = 0;
  for (const place of places) {
    edited += text.slice(from, originalOffset(text, place)) + inserted;
    from = originalOffset(text, place + found.length);
  }
  edited += text.slice(from);
  if (edited === text)
    throw new ToolInputError(
      "Invalid parameter new_string: the file already reads like that, so nothing would change.",
    );
  const line = lineAt(plain, first);
  return { text: edited, first: line, last: line + countLineEnds(inserted) };
}

/** Inserts whole lines after line `line` (0: at the beginning); a last line without a line end gets one. */
export function insertLines(text: string, line: number, added: string): Edit {
  const count = splitLines(text).length;
  if (line > count) {
    throw new ToolInputError(
      `Invalid parameter insert_line: ${line} is beyond the end; the file has ${count} lines, so it must be from 0 to ${count}.`,
    );
  }
  const lineEnd = lineEndOf(text);
  const lines = withLineEndsOf(text, added) + lineEnd;
  const offset = offsetAfterLine(text, line);
  const isUnterminated = offset > 0 && text[offset - 1] !== "\n";
  const edited = text.slice(0, offset) + (isUnterminated ? lineEnd : "") + lines + text.slice(offset);
  return { text: edited, first: line + 1, last: line + countLineEnds(lines) };
}

/** The lines of a text without their line ends; a final line end does not begin another line. */
export function splitLines(text: string): string[] {
  if (text === "") return [];
  const lines = withPlainLineEnds(text).split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function findPassage(plain: string, wanted: string): { found: string; places: number[] } {
  const places = occurrences(plain, wanted);
  if (places.length > 0) return { found: wanted, places };
  const trimmed = wanted.trim();
  return { found: trimmed, places: trimmed === "" ? [] : occurrences(plain, trimmed) };
}

function occurrences(text: string, wanted: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length))
    places.push(at);
  return places;
}

function lineAt(text: string, offset: number): number {
  return countLineEnds(text.slice(0, offset)) + 1;
}

function countLineEnds(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}

function withPlainLineEnds(text: string): string {
  return text.replaceAll("\r\n", "\n");
}

/** `text` with the prevailing line end of `model`; unchanged if that has none. */
export function withLineEndsOf(model: string, text: string): string {
  if (!model.includes("\n")) return text;
  const plain = withPlainLineEnds(text);
  return lineEndOf(model) === "\r\n" ? plain.replaceAll("\n", "\r\n") : plain;
}

/** If LF prevails but the passage has CR LF, a replacement with CR LF is used unchanged. */
function fitted(text: string, wanted: string, replacement: string): string {
  const isMeant = lineEndOf(text) === "\n" && wanted.includes("\r\n") && text.includes(wanted);
  return isMeant ? replacement : withLineEndsOf(text, replacement);
}

function lineEndOf(text: string): "\n" | "\r\n" {
  const pairs = occurrences(text, "\r\n").length;
  return pairs * 2 > countLineEnds(text) ? "\r\n" : "\n";
}

/** The offset in `text` for the offset `plain` in the text with normalised line ends. */
function originalOffset(text: string, plain: number): number {
  let pairs = 0;
  for (let at = text.indexOf("\r\n"); at !== -1 && at - pairs < plain; at = text.indexOf("\r\n", at + 2))
    pairs += 1;
  return plain + pairs;
}

function offsetAfterLine(text: string, line: number): number {
  let offset = 0;
  for (let passed = 0; passed < line; passed += 1) {
    const end = text.indexOf("\n", offset);
    if (end === -1) return text.length;
    offset = end + 1;
  }
  return offset;
}

/** Enough of a passage to recognise it. */
function quote(text: string): string {
  return JSON.stringify(text.length > 2_000 ? `${text.slice(0, 2_000)}...` : text);
}
