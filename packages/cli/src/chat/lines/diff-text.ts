import { diffOf, type DiffLine } from "@convoke/client/diff-lines";
import { pathWithin, type Edit } from "@convoke/client/view";
import { printable } from "../../print/printable.ts";
import type { Theme } from "../screen/theme.ts";

/** Longer differences are a summary; the pager has all of them. */
const maxLines = 60;

/** How many lines a call adds and takes, such as `+1 -1`. */
export function editSize(edits: readonly Edit[]): string {
  const sums = edits.map(diffOf);
  const added = sums.reduce((sum, one) => sum + one.added, 0);
  const removed = sums.reduce((sum, one) => sum + one.removed, 0);
  const files = edits.length > 1 ? ` in ${edits.length} files` : "";
  return `+${added} -${removed}${files}`;
}

/** The changed lines of a call, for the rows below it; all of them with `isWhole`. */
export function diffText(edits: readonly Edit[], theme: Theme, isWhole = false): string[] {
  const count = edits.reduce(
    (sum, edit) => sum + diffOf(edit).hunks.reduce((lines, hunk) => lines + hunk.lines.length, 0),
    0,
  );
  if (!isWhole && count > maxLines) return [];
  return edits.flatMap((edit) => [
    ...(edits.length > 1 || isWhole ? [theme.paint.bold(printable(pathWithin(edit.path, null)))] : []),
    ...diffOf(edit).hunks.flatMap(({ lines }, index) => [
      ...(index === 0 ? [] : [theme.paint.dim(`  ${theme.signs.gap}`)]),
      ...hunkText(lines, theme),
    ]),
  ]);
}

/** The lines of one hunk, with the words that changed in bold. */
export function hunkText(lines: readonly DiffLine[], { paint }: Theme): string[] {
  return lines.map((line, index) => {
    const text = printable(line.text);
    if (line.type === "same") return paint.dim(`  ${text}`);
    const [sign, colour] = line.type === "added" ? ["+", paint.green] : ["-", paint.red];
    const other = partnerOf(lines, index);
    const [start, end] = other === null ? [0, 0] : changedPart(text, printable(other.text));
    return colour(`${sign} ${text.slice(0, start)}${paint.bold(text.slice(start, end))}${text.slice(end)}`);
  });
}

/** The line that this one replaces, or is replaced by, where as many are taken as added. */
function partnerOf(lines: readonly DiffLine[], index: number): DiffLine | null {
  const isChanged = (at: number): boolean => lines[at] !== undefined && lines[at].type !== "same";
  let start = index;
  while (isChanged(start - 1)) start -= 1;
  let end = index;
  while (isChanged(end + 1)) end += 1;
  const half = (end - start + 1) / 2;
  const removed = lines.slice(start, end + 1).filter(({ type }) => type === "removed").length;
  if (removed !== half) return null;
  return lines[index < start + half ? index + half : index - half] ?? null;
}

/** Where two lines differ, in the first of them. */
function changedPart(text: string, other: string): readonly [number, number] {
  const shorter = Math.min(text.length, other.length);
  let start = 0;
  while (start < shorter && text[start] === other[start]) start += 1;
  let same = 0;
  while (same < shorter - start && text.at(-1 - same) === other.at(-1 - same)) same += 1;
  return [start, text.length - same];
}
