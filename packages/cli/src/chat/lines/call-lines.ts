import {
  acpCallKind,
  editsOf,
  foundCount,
  hasFailed,
  hostsAsked,
  listAt,
  numberAt,
  partsText,
  shownDuration,
  summarizeCall,
  textAt,
  type ActionRow,
  type Icon,
  type Outcome,
} from "@convoke/client/view";
import { noReason } from "../../no-reason.ts";
import { printable } from "../../print/printable.ts";
import { widthOf } from "../screen/text-width.ts";
import type { Signs, Theme } from "../screen/theme.ts";
import { diffText, editSize } from "./diff-text.ts";

export type CallLinesOptions = {
  readonly theme: Theme;
  /** Paths are shown relative to it. */
  readonly folder: string | null;
  /** Also the output of what succeeded. */
  readonly isVerbose: boolean;
};

/** Outcomes stand below each other, unless a call is longer. */
const outcomeColumn = 52;
const shownLines = { failed: 8, verbose: 12 };

const signOfIcon: Readonly<Record<Icon, keyof Signs>> = {
  terminal: "command",
  edit: "edit",
  read: "read",
  search: "search",
  list: "read",
  tasks: "tool",
  agent: "agent",
  browser: "tool",
  thought: "thought",
  tool: "tool",
  skill: "tool",
};

/** A call in one line, without its outcome. */
export function callText(
  row: ActionRow,
  { theme, folder }: Pick<CallLinesOptions, "theme" | "folder">,
): string {
  const { icon, text } = summarizeCall(row, folder);
  const hosts = hostsAsked(row);
  const what = hosts === null ? text : `${hosts.hosts.join(", ")}: ${hosts.reason}`;
  const sign = theme.signs[signOfIcon[icon]];
  // Another agent titles its calls itself.
  const isTitled = row.action?.["kind"] === acpCallKind;
  const isNamed =
    !isTitled && (icon === "terminal" || icon === "edit" || icon === "read" || icon === "thought");
  const shown = isNamed && what !== "" ? what : `${(isTitled && row.summary) || row.tool}  ${what}`;
  return `${sign} ${firstOf(printable(shown).trimEnd())}`;
}

/** A call with its outcome, its change of files, and the end of its output where that says why it failed. */
export function callLines(row: ActionRow, options: CallLinesOptions): string[] {
  const { theme, isVerbose } = options;
  const { outcome } = row;
  const call = `  ${callText(row, options)}`;
  if (outcome === null) return [`${call}  ${theme.paint.dim("(no outcome)")}`];
  const edits = editsOf(row);
  const isFailed = hasFailed(row);
  const output = outputOf(outcome);
  const maxLines = isFailed ? shownLines.failed : isVerbose ? shownLines.verbose : 0;
  const shown = output.slice(Math.max(0, output.length - maxLines));
  const isCut = shown.length < output.length;
  const head = edits.length > 0 ? `${call}  ${editSize(edits)}` : call;
  const gap = " ".repeat(Math.max(2, outcomeColumn - widthOf(head)));
  return [
    `${head}${gap}${outcomeText(row, outcome, isCut && isFailed, theme)}`,
    ...(edits.length > 0 ? diffText(edits, theme).map((line) => `    ${line}`) : []),
    ...(edits.length > 0 && !isFailed ? [] : shown.map((line) => `    ${theme.paint.dim(line)}`)),
  ];
}

function outcomeText(row: ActionRow, outcome: Outcome, isCut: boolean, { paint, signs }: Theme): string {
  const rest = isCut ? paint.dim(" (ctrl-o)") : "";
  if (outcome.type === "rejected") {
    const isExplained = outcome.reason !== "" && outcome.reason !== noReason;
    const reason = isExplained ? `: ${firstOf(printable(outcome.reason))}` : "";
    return paint.yellow(`${signs.rejected} ${outcome.by === "hook" ? "by a hook" : "not approved"}${reason}`);
  }
  const facts = factsOf(row, outcome);
  const text = facts.length === 0 ? "" : ` ${facts.join(", ")}`;
  return hasFailed(row)
    ? `${paint.red(`${signs.failed}${text}`)}${rest}`
    : `${paint.green(signs.ok)}${paint.dim(text)}`;
}

function factsOf(row: ActionRow, outcome: Outcome): string[] {
  const lines = outputOf(outcome).length;
  const took = Date.parse(outcome.at) - Date.parse(row.at);
  const time = took >= 10_000 ? [shownDuration(took)] : [];
  const size = lines === 0 ? [] : [`${lines} ${lines === 1 ? "line" : "lines"}`];
  // The lines of a failure stand below it.
  if (outcome.type !== "result" || (outcome.isError && outcome.observation["kind"] !== "TerminalObservation"))
    return time;
  const { observation } = outcome;
  if (observation["kind"] === "TerminalObservation") {
    if (observation["timeout"] === true) return ["still running", ...size];
    const exitCode = numberAt(observation, "exit_code") ?? 0;
    return [...(exitCode === 0 ? [] : [`exit ${exitCode}`]), ...size, ...time];
  }
  const found = foundCount(observation);
  if (found !== null) return [`${found} found`];
  return textAt(observation, "kind").startsWith("FileEditor") && !outcome.isError ? time : [...size, ...time];
}

/** What a call gave, in lines. */
function outputOf(outcome: Outcome): string[] {
  const text =
    outcome.type === "result"
      ? partsText(listAt(outcome.observation, "content"))
      : outcome.type === "failed"
        ? outcome.error
        : "";
  const shown = printable(text).replace(/\n+$/u, "");
  return shown === "" ? [] : shown.split("\n");
}

function firstOf(text: string): string {
  const [first = "", ...rest] = text.split("\n");
  return rest.length === 0 ? first : `${first} … (${rest.length + 1} lines)`;
}
