import { textAt, type UnknownRecord } from "../lib/unknown-record.ts";

/** The one answer to an action. */
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

/** How a sub-agent's task stands. */
export type TaskState = { readonly taskId: string; readonly subagent: string; readonly status: string };

/** Every row has the id and the time (RFC 3339) of the event that it stands for; ids in text order are in log order. */
type RowOf<Type extends string, Fields> = {
  readonly type: Type;
  readonly id: string;
  readonly at: string;
} & Readonly<Fields>;

export type MessageRow = RowOf<
  "message",
  {
    text: string;
    /** Addresses, `data:` or not. */
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
    /** Null when the call could not be understood. */
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

/** One thing that a person sees of the log. */
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

/** The conversation that a call gave its work to; null for other calls, and until it is known. */
export function taskOf({ task, outcome }: Pick<ActionRow, "task" | "outcome">): string | null {
  if (task !== null) return task.taskId || null;
  if (outcome?.type !== "result" || outcome.observation["kind"] !== "TaskObservation") return null;
  return textAt(outcome.observation, "task_id") || null;
}
