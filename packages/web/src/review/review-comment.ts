import type { DiffLine, FileDiff } from "../diff/diff-lines.ts";

/** What somebody says about lines of a change, for the agent. It keeps their text, so that it finds them when they move. */
export type ReviewComment = {
  readonly id: string;
  /** As the page shows it: below the folder of the conversation. */
  readonly path: string;
  /** Lines that came or stayed, or lines that went. */
  readonly side: "after" | "before";
  /** Numbers of the first and the last line, on that side. */
  readonly from: number;
  readonly to: number;
  readonly code: readonly string[];
  readonly text: string;
};

export type Lines = Pick<ReviewComment, "side" | "from" | "to" | "code">;

/** The lines between two of a difference: those of the side that the last one is on. */
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
 * Where a comment stands in a difference now: behind the line with this index. Its lines may have moved; null when they are not
 * shown any more, or have changed.
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

/** What the agent reads: a numbered list, each entry with its place, the lines and what was said about them. */
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

/** A fence longer than any that the lines themselves have. */
function fenced(code: readonly string[]): readonly string[] {
  const longest = Math.max(2, ...code.flatMap((line) => line.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = "`".repeat(longest + 1);
  return [fence, ...code, fence];
}
