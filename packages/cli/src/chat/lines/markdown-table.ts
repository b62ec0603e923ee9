import { widthOf } from "../screen/text-width.ts";

/** A longer table comes out as it is written, so that one without an end does not hold an answer back. */
export const maxTableLines = 40;
/** A wider one is not aligned: most windows would wrap each of its lines. */
const maxColumns = 100;

/** Whether a line may belong to a table. */
export function isTableLine(line: string): boolean {
  return /^\s*\|.*\|\s*$/u.test(line);
}

/** The lines of a table with its columns below each other, still Markdown; as they are where they make no table, or a wide one. */
export function tableLines(lines: readonly string[]): readonly string[] {
  const rows = lines.map(cellsOf);
  const [head = [], dashes = []] = rows;
  const isTable = dashes.length > 0 && dashes.every((cell) => /^:?-+:?$/u.test(cell));
  if (!isTable || rows.some((row) => row.length > head.length)) return lines;
  const texts = rows.filter((row) => row !== dashes);
  const widths = head.map((_, column) => Math.max(3, ...texts.map((row) => widthOf(row[column] ?? ""))));
  if (widths.reduce((sum, width) => sum + width + 3, 1) > maxColumns) return lines;
  const isRight = dashes.map((cell) => /^-+:$/u.test(cell));
  return rows.map((row) => {
    const cells = widths.map((width, column) => {
      const cell = row[column] ?? "";
      if (row === dashes)
        return cell.replace(/-+/u, (found) => "-".repeat(found.length + width - cell.length));
      const gap = " ".repeat(width - widthOf(cell));
      return isRight[column] === true ? `${gap}${cell}` : `${cell}${gap}`;
    });
    return `| ${cells.join(" | ")} |`;
  });
}

function cellsOf(line: string): string[] {
  return line
    .trim()
    .slice(1, -1)
    .split(/(?<!\\)\|/u)
    .map((cell) => cell.trim());
}
