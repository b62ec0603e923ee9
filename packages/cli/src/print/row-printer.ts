import {
  numberAt,
  partsText,
  listAt,
  RowFold,
  textAt,
  type ActionRow,
  type Outcome,
  type Row,
  type UnknownRecord,
} from "@convoke/client/view";
import type { Event } from "@convoke/protocol";
import { hostsText } from "./hosts-text.ts";
import type { Paint } from "./paint.ts";
import { printable } from "./printable.ts";

const usualLines = 12;
const linesOfMessages = 40;

/** Max lines of tool calls and their results, and of messages; longer texts lose their middle. */
type Limits = { readonly lines: number; readonly words: number };

/** Writes an account of a conversation that a person can read while it happens, from the same rows as the page. */
export class RowPrinter {
  readonly #paint: Paint;
  readonly #limits: Limits;
  readonly #fold = new RowFold();
  /** Ids of the rows, and of the outcomes, that were written. */
  readonly #written = new Set<string>();

  /** `limit` replaces how many lines of each text are shown. */
  constructor(paint: Paint, limit?: number) {
    this.#paint = paint;
    this.#limits = { lines: limit ?? usualLines, words: limit ?? linesOfMessages };
  }

  /** The lines of one more event; each row and each outcome is written once. */
  see(event: Event): string[] {
    const changed = this.#fold.add([event]);
    return [
      ...noteLines(event, this.#paint, this.#limits),
      ...[...changed].flatMap((id) => this.#newLines(id)),
    ];
  }

  #newLines(id: string): string[] {
    const row = this.#fold.row(id);
    if (row === undefined) return [];
    const outcome = row.type === "action" ? row.outcome : null;
    return [
      ...this.#once(id, () => rowLines(row, this.#paint, this.#limits)),
      ...(outcome === null
        ? []
        : this.#once(outcome.id, () => outcomeLines(outcome, this.#paint, this.#limits))),
    ];
  }

  #once(id: string, lines: () => string[]): string[] {
    if (this.#written.has(id)) return [];
    this.#written.add(id);
    return lines();
  }
}

function rowLines(row: Row, paint: Paint, limits: Limits): string[] {
  switch (row.type) {
    case "message":
      return textLines(paint.bold("you"), row, limits);
    case "answer":
      return textLines(paint.green("agent"), row, limits);
    case "hint":
      return textLines(paint.green("note"), { ...row, images: [] }, limits);
    case "action": {
      const risk = row.risk === "HIGH" ? paint.red("  high risk") : "";
      const call = block(
        `${paint.cyan(`  > ${printable(row.tool)}`)}  `,
        `${callText(row)}${risk}`,
        limits.lines,
      );
      return row.thought === ""
        ? call
        : [...block(`${paint.green("agent")}  `, row.thought, limits.words), ...call];
    }
    case "error":
      // A run that is stuck has an error without a text; its status says so at the end.
      return row.detail === ""
        ? []
        : block(paint.red(`error ${printable(row.code)}  `), row.detail, limits.lines);
    case "warning":
      return row.detail === "" ? [] : block(paint.yellow("warning  "), row.detail, limits.lines);
    case "halt":
      return [paint.yellow(row.how === "pause" ? "paused" : "interrupted")];
    case "condensation":
      return [paint.dim("(older steps were condensed for the model)")];
    default:
      return [];
  }
}

function textLines(
  who: string,
  { text, images }: { text: string; images: readonly string[] },
  { words }: Limits,
): string[] {
  const whole = [text.trimEnd(), ...images.map(() => "(image)")].filter((part) => part !== "").join("\n");
  return whole === "" ? [] : block(`${who}  `, whole, words);
}

function callText({ action, summary, callText: given }: ActionRow): string {
  switch (textAt(action, "kind")) {
    case "TerminalAction":
      return textAt(action, "command") || "(wait for output)";
    case "FileEditorAction":
      return `${textAt(action, "command")} ${textAt(action, "path")}`;
    case "FinishAction":
      return textAt(action, "message");
    case "ThinkAction":
      return textAt(action, "thought");
    case "GlobAction":
    case "GrepAction":
      return [textAt(action, "pattern"), textAt(action, "path")].filter((text) => text !== "").join(" in ");
    default:
      return hostsText(action) ?? (summary || given);
  }
}

function outcomeLines(outcome: Outcome, paint: Paint, limits: Limits): string[] {
  if (outcome.type === "failed") return block("    ", outcome.error, limits.lines).map(paint.red);
  if (outcome.type === "rejected") return [paint.yellow(`    rejected: ${printable(outcome.reason)}`)];
  const { observation, isError } = outcome;
  if (observation["kind"] === "FinishObservation") return [];
  const isTerminal = observation["kind"] === "TerminalObservation";
  const isFailure = isError || (isTerminal && (numberAt(observation, "exit_code") ?? 0) !== 0);
  const text = partsText(listAt(observation, "content")).trimEnd();
  const state = isTerminal ? exitText(observation) : "";
  const whole = [text, state].filter((part) => part !== "").join("\n");
  return block("    ", whole || "(no output)", limits.lines).map((line) =>
    isFailure ? paint.red(line) : paint.dim(line),
  );
}

function exitText(observation: UnknownRecord): string {
  if (observation["timeout"] === true) return "[still running]";
  const exitCode = numberAt(observation, "exit_code");
  return exitCode === null ? "" : `[exit ${exitCode}]`;
}

/** What has no row of its own: a wait for the next try of a model call, and what a reviewer decided. */
function noteLines(event: Event, paint: Paint, limits: Limits): string[] {
  if (event.kind !== "ConversationStateUpdateEvent") return [];
  if (event.key === "approvals") return reviewLines(event.value, paint, limits);
  if (event.key !== "model_retry") return [];
  const { detail } = (event.value ?? {}) as { readonly detail?: unknown };
  return typeof detail === "string" ? block(paint.yellow("waiting  "), detail, limits.lines) : [];
}

/** The answers of people were given at a prompt or on a page. */
function reviewLines(value: unknown, paint: Paint, limits: Limits): string[] {
  const { by, answers } = (value ?? {}) as { by?: unknown; answers?: unknown };
  if (by !== "reviewer" || !Array.isArray(answers)) return [];
  return (answers as readonly { accept?: unknown; reason?: unknown }[]).flatMap(({ accept, reason }) => {
    const what = accept === true ? "allowed by the reviewer" : "left to you by the reviewer";
    return block(paint.dim(`    ${what}: `), String(reason), limits.lines);
  });
}

/** Indents the lines behind the first one and leaves out the middle of long text. */
function block(prefix: string, text: string, limit: number): string[] {
  const lines = printable(text).split("\n");
  const half = Math.floor(limit / 2);
  const shown =
    lines.length <= limit + 1
      ? lines
      : [...lines.slice(0, half), `... ${lines.length - 2 * half} more lines ...`, ...lines.slice(-half)];
  const indent = " ".repeat(4);
  return shown.map((line, index) => (index === 0 ? `${prefix}${line}` : `${indent}${line}`));
}
