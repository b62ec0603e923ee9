import type { DiffLine, FileDiff } from "@convoke/client/diff-lines";

/** A review comment for the agent. It stores the text of its lines, so that it follows them when they move. */
export type ReviewComment = {
  readonly id: string;
  /** Path relative to the conversation's folder. */
  readonly path: string;
  /** New side (added and unchanged lines) or old side (removed lines). */
  readonly side: "after" | "before";
  /** First and last line number on that side. */
  readonly from: number;
  readonly to: number;
  readonly code: readonly string[];
  readonly text: string;
};

export type Lines = Pick<ReviewComment, "side" | "from" | "to" | "code">;

/** The lines between two lines of a diff, on the side of the second. */
export function linesBetween(lines: readonly DiffLine[], first: number, last: number): Lines {
  const side = lines[last]?.type === "removed" ? "before" : "after";
  const meant = lines
    .slice(Math.min(first, last), Math.max(first, last) + 1)
    .filter((line) => line[side] !== null);
  const numbers = meant.map((line) => line[side]!);
  return {
    side,
    from: numbers[0] ?? 0,
    to: numbers.at(-1) ?? 0,
    code: meant.map(({ text }) => text),
  };
}

/**
 * The index of the line after which a comment is shown. The lines may have moved; null if they are not shown or have
 * changed.
 */
export function placeOf(comment: ReviewComment, lines: readonly DiffLine[]): number | null {
  const { side, from, code } = comment;
  const own = lines.flatMap((line, index) => (line[side] === null ? [] : [{ line, index }]));
  let nearest: { readonly index: number; readonly distance: number } | null = null;
  for (let start = 0; start + code.length <= own.length; start += 1) {
    if (!code.every((text, offset) => own[start + offset]!.line.text === text)) continue;
    const distance = Math.abs(own[start]!.line[side]! - from);
    if (nearest === null || distance < nearest.distance)
      nearest = { index: own[start + code.length - 1]!.index, distance };
  }
  return nearest?.index ?? null;
}

export function linesOf({ hunks }: FileDiff): readonly DiffLine[] {
  return hunks.flatMap(({ lines }) => lines);
}

/** The message to the agent: a numbered list, each entry with file and line numbers, the lines and the comment. */
export function reviewMessage(summary: string, comments: readonly ReviewComment[]): string {
  const entries = comments.map((comment, index) => {
    const lines = [...fenced(comment.code), "", ...comment.text.trim().split("\n")];
    const indented = lines.map((line) => (line === "" ? "" : `   ${line}`));
    return [`${index + 1}. \`${comment.path}\`, ${placeText(comment)}:`, ...indented].join("\n");
  });
  return [summary.trim() || "Review of the changes:", ...entries].join("\n\n");
}

function placeText({ side, from, to }: ReviewComment): string {
  const lines = from === to ? `line ${from}` : `lines ${from} to ${to}`;
  return side === "before" ? `removed ${lines}` : lines;
}

/** A code fence longer than any in the lines. */
function fenced(code: readonly string[]): readonly string[] {
  const longest = Math.max(2, ...code.flatMap((line) => line.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = "`".repeat(longest + 1);
  return [fence, ...code, fence];
}
