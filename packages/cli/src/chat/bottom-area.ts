import type { ConversationView } from "@convoke/client/view";
import { printable } from "../print/printable.ts";
import type { ComposerLines } from "./input/composer-lines.ts";
import type { BottomArea, Size } from "./screen/screen.ts";
import { widthOf, withoutTabs, wrapped, wrappedWords } from "./screen/text-width.ts";
import type { Theme } from "./screen/theme.ts";
import type { Transcript } from "./talk/transcript.ts";
import { callText } from "./lines/call-lines.ts";
import { shownElapsed } from "./lines/row-lines.ts";

export type BottomParts = {
  /** Null before there is a conversation. */
  readonly transcript: Transcript | null;
  readonly question: readonly string[];
  /** Whether an answer is typed at the end of the question: the cursor stands there. */
  readonly isAnswering: boolean;
  /** A sentence for the person, until the next key. */
  readonly notice: string;
  readonly composer: ComposerLines;
  /** Completions, or a list to choose from. */
  readonly below: readonly string[];
  readonly status: string;
  readonly nowMs: number;
  readonly runningSinceMs: number;
};

const max = { calls: 4, outputLines: 3, unfinishedRows: 6, noticeRows: 4 };

/** The lines below what is finished: what runs, what is asked, what the person writes, and the state of everything. */
export function bottomArea(parts: BottomParts, theme: Theme, { columns }: Size): BottomArea {
  const { transcript, question, isAnswering, notice, composer, below, status } = parts;
  const open =
    transcript === null ? [] : [...callsOf(transcript, theme), ...unfinishedOf(transcript, theme, columns)];
  const above = [
    ...open,
    "",
    ...question,
    ...(transcript === null ? [] : activityOf(transcript, parts, theme)),
    ...(notice === "" ? [] : noticeLines(notice, columns).map(theme.paint.yellow)),
  ];
  return {
    lines: [...above, ...composer.lines, ...below, status],
    cursor: isAnswering
      ? { line: open.length + question.length, column: widthOf(question.at(-1)!) - 1 }
      : { line: above.length + composer.cursor.line, column: composer.cursor.column },
    spoken: {
      news: [
        ...(transcript === null ? [status] : []),
        ...question,
        ...(notice === "" ? [] : [printable(notice)]),
      ],
      awaited: transcript?.view.status === "running" ? doing(transcript, transcript.view, parts.nowMs) : null,
      isAsking: transcript?.view.status === "waiting_for_confirmation",
    },
  };
}

function noticeLines(notice: string, columns: number): string[] {
  return printable(notice)
    .split("\n")
    .flatMap((line) => wrappedWords(line, columns - 1))
    .slice(0, max.noticeRows);
}

function callsOf(transcript: Transcript, theme: Theme): string[] {
  const { paint, signs } = theme;
  const rows = transcript.openRows();
  const folder = transcript.view.workingDir;
  const shown = rows.slice(0, max.calls).flatMap((row) => {
    const output = printable(transcript.progress.get(row.id) ?? "").trimEnd();
    const lines = output === "" ? [] : output.split("\n").slice(-max.outputLines);
    const task = row.task === null ? [] : [`    ${signs.agent} ${row.task.subagent}  ${row.task.status}`];
    return [
      `  ${callText(row, { theme, folder })}`,
      ...task.map(paint.dim),
      ...lines.map((line) => paint.dim(`    ${line}`)),
    ];
  });
  return rows.length > max.calls ? [...shown, paint.dim(`  +${rows.length - max.calls}`)] : shown;
}

function unfinishedOf(transcript: Transcript, { paint, signs }: Theme, columns: number): string[] {
  const unfinished = transcript.unfinished();
  if (unfinished === null || unfinished.text === "") return [];
  if (unfinished.type === "reasoning") return [paint.dim(`${signs.thought} ${printable(unfinished.text)}`)];
  return unfinished.text
    .split("\n")
    .flatMap((line) => wrapped(withoutTabs(line), columns - 1))
    .slice(-max.unfinishedRows);
}

/** What is awaited, for how long, and how to end it. */
function activityOf(transcript: Transcript, { nowMs, runningSinceMs }: BottomParts, theme: Theme): string[] {
  const { paint, signs, spinner } = theme;
  const { view } = transcript;
  const count = transcript.queuedMessages().length;
  const queued = count === 0 ? [] : [`${count} queued`];
  if (view.status !== "running") {
    const halted = view.status === "paused" ? ["paused", "/go goes on"] : [];
    const parts = [...halted, ...queued, ...(count > 0 ? ["enter sends them"] : [])];
    return parts.length === 0 ? [] : [paint.yellow(parts.join(signs.dot))];
  }
  const elapsedMs = Math.max(0, nowMs - runningSinceMs);
  const frame = spinner[Math.floor(nowMs / 125) % spinner.length]!;
  const parts = [doing(transcript, view, nowMs), shownElapsed(elapsedMs), "esc interrupts", ...queued];
  return [`${paint.cyan(frame)} ${paint.dim(parts.join(signs.dot))}`];
}

function doing(transcript: Transcript, { retry }: ConversationView, nowMs: number): string {
  const { awaitedTools } = transcript;
  if (awaitedTools.length > 0) return printable(`waiting for a client: ${awaitedTools.join(", ")}`);
  const tools = [...new Set(transcript.openRows().map(({ tool }) => tool))];
  if (tools.length > 0) return printable(tools.join(", "));
  const unfinished = transcript.unfinished();
  if (unfinished !== null) return unfinished.type === "text" ? "writing" : "thinking";
  if (retry === null) return "waiting for the model";
  if (retry.code === "MCPServersStarting") return "waiting for MCP servers";
  const leftMs = retry.until === null ? 0 : Date.parse(retry.until) - nowMs;
  return leftMs > 0 ? `model: next try in ${Math.ceil(leftMs / 1_000)} s` : "model: trying again";
}
