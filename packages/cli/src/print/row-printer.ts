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

const maxLines = 12;

/** Writes an account of a conversation that a person can read while it happens, from the same rows as the page. */
export class RowPrinter {
  readonly #paint: Paint;
  readonly #fold = new RowFold();
  /** Ids of the rows, and of the outcomes, that were written. */
  readonly #written = new Set<string>();

  constructor(paint: Paint) {
    this.#paint = paint;
  }

  /** The lines of one more event; each row and each outcome is written once. */
  see(event: Event): string[] {
    const changed = this.#fold.add([event]);
    return [...noteLines(event, this.#paint), ...[...changed].flatMap((id) => this.#newLines(id))];
  }

  #newLines(id: string): string[] {
    const row = this.#fold.row(id);
    if (row === undefined) return [];
    const outcome = row.type === "action" ? row.outcome : null;
    return [
      ...this.#once(id, () => rowLines(row, this.#paint)),
      ...(outcome === null ? [] : this.#once(outcome.id, () => outcomeLines(outcome, this.#paint))),
    ];
  }

  #once(id: string, lines: () => string[]): string[] {
    if (this.#written.has(id)) return [];
    this.#written.add(id);
    return lines();
  }
}

function rowLines(row: Row, paint: Paint): string[] {
  switch (row.type) {
    case "message":
      return textLines(paint.bold("you"), row);
    case "answer":
      return textLines(paint.green("agent"), row);
    case "hint":
      return textLines(paint.green("note"), { ...row, images: [] });
    case "action": {
      const risk = row.risk === "HIGH" ? paint.red("  high risk") : "";
      const call = block(
        `${paint.cyan(`  > ${printable(row.tool)}`)}  `,
        `${callText(row)}${risk}`,
        maxLines,
      );
      return row.thought === "" ? call : [...block(`${paint.green("agent")}  `, row.thought, 40), ...call];
    }
    case "error":
      // A run that is stuck has an error without a text; its status says so at the end.
      return row.detail === ""
        ? []
        : block(paint.red(`error ${printable(row.code)}  `), row.detail, maxLines);
    case "warning":
      return row.detail === "" ? [] : block(paint.yellow("warning  "), row.detail, maxLines);
    case "halt":
      return [paint.yellow(row.how === "pause" ? "paused" : "interrupted")];
    case "condensation":
      return [paint.dim("(older steps were condensed for the model)")];
    default:
      return [];
  }
}

function textLines(who: string, { text, images }: { text: string; images: readonly string[] }): string[] {
  const whole = [text.trimEnd(), ...images.map(() => "(image)")].filter((part) => part !== "").join("\n");
  return whole === "" ? [] : block(`${who}  `, whole, 40);
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

function outcomeLines(outcome: Outcome, paint: Paint): string[] {
  if (outcome.type === "failed") return block("    ", outcome.error, maxLines).map(paint.red);
  if (outcome.type === "rejected") return [paint.yellow(`    rejected: ${printable(outcome.reason)}`)];
  const { observation, isError } = outcome;
  if (observation["kind"] === "FinishObservation") return [];
  const isTerminal = observation["kind"] === "TerminalObservation";
  const isFailure = isError || (isTerminal && (numberAt(observation, "exit_code") ?? 0) !== 0);
  const text = partsText(listAt(observation, "content")).trimEnd();
  const state = isTerminal ? exitText(observation) : "";
  const whole = [text, state].filter((part) => part !== "").join("\n");
  return block("    ", whole || "(no output)", maxLines).map((line) =>
    isFailure ? paint.red(line) : paint.dim(line),
  );
}

function exitText(observation: UnknownRecord): string {
  if (observation["timeout"] === true) return "[still running]";
  const exitCode = numberAt(observation, "exit_code");
  return exitCode === null ? "" : `[exit ${exitCode}]`;
}

/** What has no row of its own: a wait for the next try of a model call, and what a reviewer decided. */
function noteLines(event: Event, paint: Paint): string[] {
  if (event.kind !== "ConversationStateUpdateEvent") return [];
  if (event.key === "approvals") return reviewLines(event.value, paint);
  if (event.key !== "model_retry") return [];
  const { detail } = (event.value ?? {}) as { readonly detail?: unknown };
  return typeof detail === "string" ? block(paint.yellow("waiting  "), detail, maxLines) : [];
}

/** The answers of people were given at a prompt or on a page. */
function reviewLines(value: unknown, paint: Paint): string[] {
  const { by, answers } = (value ?? {}) as { by?: unknown; answers?: unknown };
  if (by !== "reviewer" || !Array.isArray(answers)) return [];
  return (answers as readonly { accept?: unknown; reason?: unknown }[]).flatMap(({ accept, reason }) => {
    const what = accept === true ? "allowed by the reviewer" : "left to you by the reviewer";
    return block(paint.dim(`    ${what}: `), String(reason), maxLines);
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
