import type {
  ContentBlock,
  PlanEntry,
  SessionMode,
  StopReason,
  ToolCall,
  ToolCallContent,
  ToolCallLocation,
  ToolCallUpdate,
  ToolKind,
} from "@agentclientprotocol/sdk";
import type {
  ActionEvent,
  ConfirmationPolicyInput,
  ConversationExecutionStatus,
  ObservationEvent,
  SecurityAnalyzerInput,
} from "@convoke/protocol";
import { asFields, listAt, textAt, type Fields } from "./fields.ts";
import { doneChanges, placesOf, plannedChanges, type FileChange } from "./file-changes.ts";

/** Between the wire of conversations and the Agent Client Protocol, version 1: what is called what. */

/** Kinds of tools by the kind of their actions; others are `other`. */
const toolKinds: Readonly<Record<string, ToolKind>> = {
  TerminalAction: "execute",
  FileEditorAction: "edit",
  PlanningFileEditorAction: "edit",
  EditAction: "edit",
  WriteFileAction: "edit",
  ApplyPatchAction: "edit",
  ReadFileAction: "read",
  ListDirectoryAction: "read",
  GlobAction: "search",
  GrepAction: "search",
  BrowserNavigateAction: "fetch",
  BrowserGetContentAction: "fetch",
  InvokeSkillAction: "read",
  TaskAction: "think",
  DelegateAction: "think",
  AskOracleAction: "think",
};

/** Actions that are told as text or as a plan, not as a call of a tool. */
const shownOtherwise = new Set(["FinishAction", "ThinkAction", "TaskTrackerAction"]);

export function isToolCall(action: Fields): boolean {
  return !shownOtherwise.has(textAt(action, "kind"));
}

/** The start of a call; its id is that of the event, because a model may use a call id again. */
export function toToolCall(event: ActionEvent, cwd: string): ToolCall {
  const action = asFields(event.action);
  const { kind: _, ...input } = action;
  const changes = plannedChanges(action, cwd);
  return {
    toolCallId: event.id!,
    name: event.tool_name,
    title: titleOf(event, action),
    kind: kindOf(action),
    status: "pending",
    rawInput: event.action ? input : event.tool_call.arguments,
    ...toContent(changes, []),
    locations: changes.length > 0 ? changes.map(toLocation) : placesOf(action, cwd),
  };
}

/** The end of a call. */
export function toResult(event: ObservationEvent, cwd: string): ToolCallUpdate {
  const observation = asFields(event.observation);
  const hasFailed = observation["is_error"] === true;
  const changes = hasFailed ? [] : doneChanges(observation, cwd);
  const shown = changes.length > 0 ? [] : listAt(observation, "content").flatMap(toBlocks);
  return {
    toolCallId: event.action_id,
    status: hasFailed ? "failed" : "completed",
    ...toContent(changes, shown),
    ...(changes.length > 0 ? { locations: changes.map(toLocation) } : {}),
  };
}

export function toFailure(toolCallId: string, reason: string): ToolCallUpdate {
  return { toolCallId, status: "failed", ...toContent([], [{ type: "text", text: reason }]) };
}

export function toProgress(toolCallId: string, text: string): ToolCallUpdate {
  return { toolCallId, status: "in_progress", ...toContent([], [{ type: "text", text }]) };
}

/** The agent's task list. */
export function toPlan(tasks: readonly unknown[]): PlanEntry[] {
  const statuses = { todo: "pending", in_progress: "in_progress", done: "completed" } as const;
  return tasks.map((task) => {
    const fields = asFields(task);
    const status = textAt(fields, "status") as keyof typeof statuses;
    return {
      content: textAt(fields, "title"),
      priority: "medium",
      status: statuses[status] ?? "pending",
    };
  });
}

/** Parts of a message or of an observation. Pictures come as `data:` URLs; others are named by their address. */
export function toBlocks(part: unknown): ContentBlock[] {
  const fields = asFields(part);
  const text = textAt(fields, "text");
  if (text !== "") return [{ type: "text", text }];
  return listAt(fields, "image_urls").map((url): ContentBlock => {
    const [, mimeType, data] = /^data:([^;,]+);base64,(.*)$/su.exec(String(url)) ?? [];
    return mimeType === undefined || data === undefined
      ? { type: "resource_link", name: "picture", uri: String(url) }
      : { type: "image", mimeType, data };
  });
}

export type ModeId = "ask" | "risky" | "auto" | "plan";

export const modes: readonly (SessionMode & { readonly id: ModeId })[] = [
  { id: "ask", name: "Ask", description: "Asks before each action" },
  { id: "risky", name: "Ask if risky", description: "Asks before actions of medium or high risk" },
  { id: "auto", name: "Auto", description: "Asks before no action" },
  { id: "plan", name: "Plan", description: "Changes nothing but its plan; /approve carries it out" },
];

type Asking = {
  readonly policy: ConfirmationPolicyInput;
  readonly analyzer: SecurityAnalyzerInput | null;
};

/** How each mode asks. A planning agent asks as `risky` does once its plan is approved. */
export function askingOf(mode: ModeId): Asking {
  switch (mode) {
    case "ask":
      return { policy: { kind: "AlwaysConfirm" }, analyzer: null };
    case "auto":
      return { policy: { kind: "NeverConfirm" }, analyzer: null };
    case "risky":
    case "plan":
      return {
        policy: { kind: "ConfirmRisky", threshold: "MEDIUM", confirm_unknown: true },
        // The server's own analyzer, which is not in the wire's schema.
        analyzer: { kind: "PatternSecurityAnalyzer" } as object,
      };
  }
}

export function modeOf(policyKind: string, isPlanning: boolean): ModeId {
  if (isPlanning) return "plan";
  if (policyKind === "AlwaysConfirm") return "ask";
  return policyKind === "ConfirmRisky" ? "risky" : "auto";
}

/** Limits that end a run. The protocol has one reason for all. */
const limits = new Set(["MaxIterationsReached", "MaxBudgetReached", "MaxRunTimeReached"]);

/** Why a turn ended, by the status at its end and the code of its error; null for a failure. */
export function toStopReason(
  status: ConversationExecutionStatus,
  errorCode: string | null,
): StopReason | null {
  switch (status) {
    case "error":
      return errorCode !== null && limits.has(errorCode) ? "max_turn_requests" : null;
    case "stuck":
      return "refusal";
    case "paused":
      return "cancelled";
    default:
      // A refused action leaves the run idle.
      return "end_turn";
  }
}

function kindOf(action: Fields): ToolKind {
  if (action["command"] === "view") return "read";
  return toolKinds[textAt(action, "kind")] ?? "other";
}

function titleOf({ tool_name: tool, summary }: ActionEvent, action: Fields): string {
  if (action["kind"] === "TerminalAction") return firstLine(textAt(action, "command")) || tool;
  const fact =
    textAt(action, "path") ||
    textAt(action, "file_path") ||
    textAt(action, "pattern") ||
    textAt(action, "url") ||
    (summary ?? "");
  return fact === "" ? tool : `${tool}: ${firstLine(fact)}`;
}

function firstLine(text: string): string {
  const [line = "", ...others] = text.split("\n");
  return others.length > 0 || line.length > 200 ? `${line.slice(0, 200)}…` : line;
}

function toContent(
  changes: readonly FileChange[],
  blocks: readonly ContentBlock[],
): { readonly content?: ToolCallContent[] } {
  const content: ToolCallContent[] = [
    ...changes.map(({ path, oldText = null, newText }) => ({
      type: "diff" as const,
      path,
      oldText,
      newText,
    })),
    ...blocks.map((block) => ({ type: "content" as const, content: block })),
  ];
  return content.length === 0 ? {} : { content };
}

function toLocation({ path, line }: FileChange): ToolCallLocation {
  return { path, line };
}
