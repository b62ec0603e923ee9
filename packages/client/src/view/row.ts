import { textAt, type UnknownRecord } from "./unknown-record.ts";

/** The outcome of an action. */
export type Outcome = {
  readonly id: string;
  readonly at: string;
} & (
  | {
      readonly type: "result";
      readonly observation: UnknownRecord;
      readonly isError: boolean;
      readonly isCut: boolean;
    }
  | { readonly type: "failed"; readonly error: string }
  | { readonly type: "rejected"; readonly reason: string; readonly by: "user" | "hook" }
);

/** The state of a sub-agent's task. */
export type TaskState = { readonly taskId: string; readonly subagent: string; readonly status: string };

/** Each row has the id and time (RFC 3339) of its event; ids sort in log order. */
type RowOf<Type extends string, Fields> = {
  readonly type: Type;
  readonly id: string;
  readonly at: string;
} & Readonly<Fields>;

export type MessageRow = RowOf<
  "message",
  {
    text: string;
    /** URLs, `data:` or others. */
    images: readonly string[];
    skills: readonly string[];
    isTakenBack: boolean;
  }
>;

export type AnswerRow = RowOf<
  "answer",
  { text: string; images: readonly string[]; reasoning: string; responseId: string | null }
>;

export type ActionRow = RowOf<
  "action",
  {
    tool: string;
    toolCallId: string;
    /** Null if the call could not be parsed. */
    action: UnknownRecord | null;
    /** The arguments as the model sent them, JSON text. */
    callText: string;
    summary: string;
    thought: string;
    reasoning: string;
    risk: string;
    responseId: string | null;
    outcome: Outcome | null;
    task: TaskState | null;
  }
>;

export type HookRow = RowOf<
  "hook",
  {
    hookType: string;
    command: string;
    isBlocked: boolean;
    isOk: boolean;
    exitCode: number | null;
    reason: string;
    output: string;
  }
>;

/** One row of the timeline. */
export type Row =
  | MessageRow
  | AnswerRow
  | ActionRow
  | HookRow
  | RowOf<"hint", { text: string }>
  | RowOf<"prompt", { text: string; tools: readonly string[] }>
  | RowOf<"condensation", { summary: string; forgotten: number }>
  | RowOf<"condensation-asked", object>
  | RowOf<"error", { code: string; detail: string }>
  | RowOf<"warning", { code: string; detail: string }>
  | RowOf<"halt", { how: "pause" | "interrupt" }>
  | RowOf<"branch", { target: string | null }>
  | RowOf<"setting", { key: string; value: unknown }>
  | RowOf<"goal", { objective: string; status: string; verdict: string }>
  | RowOf<"unknown", { kind: string; event: UnknownRecord }>;

/** The conversation of the sub-agent that a call started; null for other calls, and until it is known. */
export function taskOf({ task, outcome }: Pick<ActionRow, "task" | "outcome">): string | null {
  if (task !== null) return task.taskId || null;
  if (outcome?.type !== "result" || outcome.observation["kind"] !== "TaskObservation") return null;
  return textAt(outcome.observation, "task_id") || null;
}
