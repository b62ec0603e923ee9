import { acpCallKind } from "./acp-call.ts";
import { editsOf } from "./edits.ts";
import type { ActionRow } from "./row.ts";
import { pathWithin } from "./shown-numbers.ts";
import { listAt, recordAt, textAt, textsAt, type UnknownRecord } from "./unknown-record.ts";

export type Icon =
  | "terminal"
  | "edit"
  | "read"
  | "search"
  | "list"
  | "tasks"
  | "agent"
  | "browser"
  | "thought"
  | "tool"
  | "skill";

/** The summary line of a tool call: an icon and the main argument. */
export type CardSummary = {
  readonly icon: Icon;
  readonly text: string;
  /** True for a command, path or pattern, shown in monospace. */
  readonly isCode: boolean;
};

/** Tools that only read. */
const readingKinds = new Set([
  "GrepAction",
  "GlobAction",
  "ListDirectoryAction",
  "ReadFileAction",
  "BrowserGetStateAction",
  "BrowserGetContentAction",
  "BrowserListTabsAction",
]);

/** Whether a row may be grouped with adjacent rows: it only read, and succeeded. */
export function isReadOnly({ action, outcome }: ActionRow): boolean {
  const kind = textAt(action, "kind");
  const isReading =
    readingKinds.has(kind) ||
    (kind === "FileEditorAction" && action?.["command"] === "view") ||
    (kind === acpCallKind && (action?.["tool_kind"] === "read" || action?.["tool_kind"] === "search"));
  return isReading && outcome?.type === "result" && !outcome.isError;
}

/** Whether a call that only reads is a search. */
export function isSearch({ action }: ActionRow): boolean {
  return (
    action?.["kind"] === "GrepAction" ||
    action?.["kind"] === "GlobAction" ||
    action?.["tool_kind"] === "search"
  );
}

type SummarizedCall = Pick<ActionRow, "tool" | "action" | "callText" | "outcome" | "summary">;

/** By the kinds of the Agent Client Protocol; others are tools. */
const acpIcons: Readonly<Record<string, Icon>> = {
  read: "read",
  edit: "edit",
  delete: "edit",
  move: "edit",
  search: "search",
  execute: "terminal",
  think: "thought",
  fetch: "browser",
};

export function summarizeCall(row: SummarizedCall, folder: string | null): CardSummary {
  const { action, tool } = row;
  const code = (icon: Icon, text: string): CardSummary => ({ icon, text, isCode: true });
  const plain = (icon: Icon, text: string): CardSummary => ({ icon, text, isCode: false });
  const path = (key: string): string => pathWithin(textAt(action, key), folder);
  switch (textAt(action, "kind")) {
    case "TerminalAction":
      return code("terminal", textAt(action, "command"));
    case "FileEditorAction":
    case "PlanningFileEditorAction":
      return code(action?.["command"] === "view" ? "read" : "edit", path("path"));
    case "EditAction":
    case "WriteFileAction":
      return code("edit", path("file_path"));
    case "ApplyPatchAction":
      return code(
        "edit",
        editsOf(row)
          .map((edit) => pathWithin(edit.path, folder))
          .join(", ") || tool,
      );
    case "ReadFileAction":
      return code("read", path("file_path"));
    case "ListDirectoryAction":
      return code("list", path("dir_path") || ".");
    case "GrepAction":
      return code(
        "search",
        [textAt(action, "pattern"), path("path"), textAt(action, "include")].filter(Boolean).join("  "),
      );
    case "GlobAction":
      return code("search", textAt(action, "pattern"));
    case "TaskTrackerAction":
      return plain("tasks", "");
    case "TaskAction":
      return plain("agent", textAt(action, "description") || firstLine(textAt(action, "prompt")));
    case "DelegateAction":
    case "WorkflowAction":
      return plain("agent", textAt(action, "name") || textAt(action, "command"));
    case "ThinkAction":
      return plain("thought", firstLine(textAt(action, "thought")));
    case "InvokeSkillAction":
      return plain("skill", textAt(action, "name"));
    case "SwitchLLMAction":
      return plain("agent", textAt(action, "profile_name"));
    case "AskOracleAction":
    case "VisionInspectAction":
      return plain("agent", firstLine(textAt(action, "question")));
    case acpCallKind:
      return code(acpIcons[textAt(action, "tool_kind")] ?? "tool", acpArgument(row, folder));
    default:
      if (textAt(action, "kind").startsWith("Browser"))
        return code("browser", textAt(action, "url") || textAt(action, "text"));
      return code("tool", firstArgument(row));
  }
}

/** The command of a call of another agent; null for other calls. */
export function acpCommandOf(action: UnknownRecord | null): string | null {
  const data = recordAt(action, "data");
  const command = textAt(data, "command") || textsAt(data, "command").join(" ");
  return action?.["tool_kind"] === "execute" && command !== "" ? command : null;
}

/** What a call of another agent is about, where its title does not name it. */
function acpArgument(row: SummarizedCall, folder: string | null): string {
  const paths = editsOf(row).map(({ path }) => pathWithin(path, folder));
  const data = recordAt(row.action, "data");
  const path = textAt(data, "path") || textAt(data, "file_path") || textAt(data, "abs_path");
  const text =
    acpCommandOf(row.action) ||
    paths.join(", ") ||
    (path === "" ? firstArgument(row) : pathWithin(path, folder));
  return row.summary.includes(text) ? "" : text;
}

/** The arguments of an MCP or unknown tool, shortened to one line. */
function firstArgument({ action, callText }: Pick<ActionRow, "action" | "callText">): string {
  const data = (action?.["data"] ?? action) as UnknownRecord | null;
  const value = Object.entries(data ?? {}).find(
    ([key, item]) => key !== "kind" && typeof item === "string",
  )?.[1];
  return typeof value === "string" ? firstLine(value) : firstLine(callText);
}

/** Number of results of a search; null for other observations. */
export function foundCount(observation: UnknownRecord): number | null {
  if (observation["kind"] === "GrepObservation") return listAt(observation, "matches").length;
  if (observation["kind"] === "GlobObservation") return listAt(observation, "files").length;
  if (observation["kind"] === "ListDirectoryObservation") return listAt(observation, "entries").length;
  return null;
}

export function firstLine(text: string): string {
  const end = text.indexOf("\n");
  return end < 0 ? text : text.slice(0, end);
}
