import { shownDuration, type Row } from "@convoke/client/view";
import { printable } from "../../print/printable.ts";
import { callLines, type CallLinesOptions } from "./call-lines.ts";
import { MarkdownLines } from "./markdown-lines.ts";

/** A row of the log as finished lines; none for rows that only a detailed view shows. */
export function rowLines(row: Row, options: CallLinesOptions): string[] {
  const { paint, signs } = options.theme;
  const note = (text: string, style: (text: string) => string = paint.dim): string[] => [
    style(`${signs.note} ${printable(text)}`),
  ];
  switch (row.type) {
    case "message": {
      const images = row.images.map((_, index) => `(image ${index + 1})`);
      const text = [row.text, ...images].filter((part) => part !== "").join("\n");
      const lines = indented(`${signs.user} `, printable(text).split("\n").map(paint.bold));
      return ["", ...lines, ...(row.isTakenBack ? note("taken back") : [])];
    }
    case "answer":
      return [...thoughtLines(row.reasoning, options), ...answerLines(row.text, options)];
    case "action": {
      const before = [...thoughtLines(row.reasoning, options), ...answerLines(row.thought, options)];
      if (row.tool === "finish") return [...before, ...answerLines(finishText(row.action), options)];
      return [...before, ...callLines(row, options)];
    }
    case "hint":
      return note(firstLines(row.text, 3));
    case "error":
      return row.code === "stuck"
        ? note("The agent repeated itself and was stopped.", paint.red)
        : note(`error ${row.code}: ${row.detail}`, paint.red);
    case "warning":
      return row.detail === "" ? [] : note(row.detail, paint.yellow);
    case "halt":
      return note(row.how === "pause" ? "paused" : "interrupted", paint.yellow);
    case "condensation":
      return note(`${row.forgotten} older steps were condensed for the model`);
    case "branch":
      return note("went on from an earlier place; what is above it is not read by the agent any more");
    case "hook":
      return row.isBlocked ? note(`blocked by a hook: ${row.reason || row.command}`, paint.yellow) : [];
    case "goal":
      return note(`goal ${row.status}: ${row.objective}`);
    case "unknown":
      return note(row.kind);
    case "setting":
    case "prompt":
    case "condensation-asked":
      return [];
  }
}

/** An answer that is there as a whole. */
export function answerLines(text: string, { theme }: Pick<CallLinesOptions, "theme">): string[] {
  if (text.trim() === "") return [];
  const markdown = new MarkdownLines(theme);
  const lines = printable(text)
    .trimEnd()
    .split("\n")
    .flatMap((line) => markdown.next(line));
  return indented(`${theme.signs.answer} `, [...lines, ...markdown.end()]);
}

/** What the model thought, in its first line: an account of everything is one key away. */
export function thoughtLines(text: string, { theme, isVerbose }: CallLinesOptions): string[] {
  const lines = printable(text).trim().split("\n");
  if (lines[0] === "") return [];
  const shown = isVerbose || lines.length === 1 ? lines : [`${lines[0]} … (ctrl-o)`];
  return indented(`${theme.signs.thought} `, shown).map(theme.paint.dim);
}

/** The first line begins with the sign; the others stay where they are in the text, so that they can be copied. */
function indented(sign: string, lines: readonly string[]): string[] {
  return lines.map((line, index) => (index === 0 ? `${sign}${line}` : `  ${line}`.trimEnd()));
}

function finishText(action: Readonly<Record<string, unknown>> | null): string {
  return typeof action?.["message"] === "string" ? action["message"] : "";
}

function firstLines(text: string, count: number): string {
  const lines = text.trim().split("\n");
  return lines.length <= count ? text.trim() : `${lines.slice(0, count).join("\n")} …`;
}

/** How long something took, for a line that changes once a second. */
export function shownElapsed(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  if (seconds < 60) return `0:${String(seconds).padStart(2, "0")}`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  return shownDuration(ms);
}
