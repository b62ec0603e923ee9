import { extname } from "node:path";
import { ToolInputError } from "../../tool.ts";
import { splitLines } from "./edit-text.ts";
import { numberLines } from "./number-lines.ts";

/** MIME types of the files that are shown as images, by lower-case extension. */
const imageTypes: Readonly<Record<string, string>> = {
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".gif": "image/gif",
  ".webp": "image/webp",
  ".bmp": "image/bmp",
};

/** The MIME type of an image file by its name, or undefined. */
export function imageTypeOf(path: string): string | undefined {
  return imageTypes[extname(path).toLowerCase()];
}

/** A text with line numbers, after a line that names the file. `range` is 1-based and inclusive; -1 as its end is the last line. */
export function viewText(path: string, text: string, range: readonly number[] | undefined): string {
  const lines = splitLines(text);
  if (range === undefined) {
    return lines.length === 0
      ? `${path} is empty.\n`
      : `${path}, ${countOf(lines)}:\n${numberLines(lines, 1)}`;
  }
  const { start, end } = checkRange(range, lines.length);
  const note =
    end > lines.length ? `The file ends at line ${lines.length}, before the requested line ${end}.\n` : "";
  const last = end === -1 ? lines.length : Math.min(end, lines.length);
  const shown = numberLines(lines.slice(start - 1, last), start);
  return `${note}${path}, lines ${start} to ${last} of ${lines.length}:\n${shown}`;
}

/** The lines that an edit wrote, with four lines of context on each side; for an empty span, the place where text was removed. */
export function viewEdit(text: string, first: number, last: number): string {
  const lines = splitLines(text);
  const start = Math.max(1, first - contextLines);
  return numberLines(lines.slice(start - 1, last + contextLines), start);
}

const contextLines = 4;

function countOf(lines: readonly string[]): string {
  return lines.length === 1 ? "1 line" : `${lines.length} lines`;
}

function checkRange(range: readonly number[], lineCount: number): { start: number; end: number } {
  const [start, end] = range;
  const refuse = (reason: string): never => {
    throw new ToolInputError(`Invalid parameter view_range: [${range.join(", ")}]. ${reason}`);
  };
  if (range.length !== 2 || start === undefined || end === undefined) {
    return refuse("It needs exactly two numbers, the first and the last line.");
  }
  if (start < 1 || start > lineCount) return refuse(`The first line must be from 1 to ${lineCount}.`);
  if (end !== -1 && end < start)
    return refuse(
      `The last line must not be before the first line ${start}; use -1 for the end of the file.`,
    );
  return { start, end };
}
