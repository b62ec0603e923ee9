import { textLimits } from "../../text/truncate.ts";
import { showControls } from "./show-controls.ts";

/**
 * Numbers lines, each as `%6d`, a tab, the text and a line end. Beyond 16,000 characters of text the middle is left out; every shown
 * line has its true number.
 */
export function numberLines(given: readonly string[], firstNumber: number): string {
  const lines = given.map(showControls);
  const show = (line: string, index: number): string =>
    `${String(firstNumber + index).padStart(6)}\t${line}\n`;
  const length = lines.reduce((sum, line) => sum + line.length + 1, 0);
  if (length <= textLimits.fileEditor) return lines.map(show).join("");

  const half = Math.floor((textLimits.fileEditor - noticeLength) / 2);
  const headCount = countFitting(lines, half);
  const tailCount = countFitting(lines.toReversed(), half);
  const lastIndex = lines.length - 1;
  const head =
    headCount > 0
      ? lines.slice(0, headCount).map(show).join("")
      : show((lines[0] ?? "").slice(0, half).toWellFormed(), 0);
  const tailStart = lines.length - tailCount;
  const tail =
    tailCount > 0
      ? lines
          .slice(tailStart)
          .map((line, index) => show(line, tailStart + index))
          .join("")
      : show((lines[lastIndex] ?? "").slice(-half).toWellFormed(), lastIndex);
  const firstLeftOut = firstNumber + headCount;
  const lastLeftOut = firstNumber + tailStart - 1;
  return `${head}<response clipped> Left out to keep this short: lines ${firstLeftOut} to ${lastLeftOut}, or parts of them. Use view_range to see them, or grep to find what you need. <end of note>\n${tail}`;
}

/** Room for the notice with two long numbers. */
const noticeLength = 200;

function countFitting(lines: readonly string[], limit: number): number {
  let used = 0;
  const tooMany = lines.findIndex((line) => (used += line.length + 1) > limit);
  return tooMany === -1 ? lines.length : tooMany;
}
