import stringWidth from "string-width";
import { createPaint } from "./paint.ts";
import { printable } from "./printable.ts";

export type Column = {
  readonly heading?: string;
  /** True: cut where the row would be wider than the terminal. */
  readonly isCut?: true;
  readonly isRight?: true;
};

/** Prints rows in columns that fit the terminal; into a file or a pipe nothing is cut. */
export function printTable(columns: readonly Column[], rows: readonly (readonly string[])[]): void {
  const { stdout } = process;
  const [heading, ...lines] = tableLines(columns, rows, stdout.isTTY ? stdout.columns : Infinity);
  if (heading !== "") stdout.write(`${createPaint(stdout).dim(heading!)}\n`);
  for (const line of lines) stdout.write(`${line}\n`);
}

/** The line of headings, empty where no column has one, and a line for each row; none is wider than `width`. */
export function tableLines(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width: number,
): readonly string[] {
  const headings = columns.map(({ heading = "" }) => heading);
  const table = [headings, ...rows.map((row) => row.map(oneLine))];
  const widths = columns.map((_, at) => Math.max(...table.map((row) => stringWidth(row[at] ?? ""))));
  const fitted = fit(columns, widths, width);
  return table.map((row) => {
    const cells = columns.map(({ isRight }, at) => {
      const cell = cut(row[at] ?? "", fitted[at]!);
      const space = " ".repeat(fitted[at]! - stringWidth(cell));
      return isRight === true ? `${space}${cell}` : `${cell}${space}`;
    });
    return cells.join(gap).trimEnd();
  });
}

const gap = "  ";
const narrowest = 8;

function fit(columns: readonly Column[], widths: readonly number[], width: number): number[] {
  const fitted = [...widths];
  const over = widths.reduce((sum, one) => sum + one, gap.length * (widths.length - 1)) - width;
  let left = Math.max(0, over);
  for (const [at, { isCut }] of columns.entries()) {
    if (isCut !== true) continue;
    const taken = Math.min(left, Math.max(0, fitted[at]! - narrowest));
    fitted[at]! -= taken;
    left -= taken;
  }
  return fitted;
}

/** At most `width` cells of the terminal, with an ellipsis for what is missing. */
function cut(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  let shown = "";
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (stringWidth(shown + segment) > width - 1) break;
    shown += segment;
  }
  return `${shown.trimEnd()}…`;
}

function oneLine(text: string): string {
  return printable(text.replaceAll(/\s+/g, " ").trim());
}
