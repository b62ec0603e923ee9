import { graphemesOf, widthOf } from "../screen/text-width.ts";

/** Characters that move the cursor, or that nobody sees; a message may have them, a line may not. */
// oxlint-disable-next-line no-control-regex -- control characters are what this finds
const unseen = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

export type ComposerLines = {
  readonly lines: readonly string[];
  readonly cursor: { readonly line: number; readonly column: number };
};

/** The composer as lines of a window: wrapped by us, so that the caret's place is known; of many lines those around the caret. */
export function composerLines(
  { text, caret, prompt }: { readonly text: string; readonly caret: number; readonly prompt: string },
  { columns, maxLines }: { readonly columns: number; readonly maxLines: number },
): ComposerLines {
  const width = Math.max(4, columns - 1 - widthOf(prompt));
  const lines: string[] = [""];
  let column = 0;
  let at = 0;
  let cursor = { line: 0, column: 0 };
  for (const part of graphemesOf(text)) {
    if (at <= caret) cursor = { line: lines.length - 1, column };
    at += part.length;
    if (part === "\n") {
      lines.push("");
      column = 0;
      continue;
    }
    const shown = part === "\t" ? "  " : part.replaceAll(unseen, "\u00b7");
    const partWidth = widthOf(shown);
    if (column + partWidth > width) {
      lines.push("");
      column = 0;
      if (at > caret && at - part.length <= caret) cursor = { line: lines.length - 1, column: 0 };
    }
    lines[lines.length - 1] += shown;
    column += partWidth;
  }
  if (caret >= at) cursor = { line: lines.length - 1, column };
  const first = Math.max(0, Math.min(cursor.line - Math.floor(maxLines / 2), lines.length - maxLines));
  const indent = " ".repeat(widthOf(prompt));
  return {
    lines: lines
      .map((line, index) => `${index === 0 ? prompt : indent}${line}`)
      .slice(first, first + maxLines),
    cursor: { line: cursor.line - first, column: cursor.column + widthOf(prompt) },
  };
}
