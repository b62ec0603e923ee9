import type { ConversationExecutionStatus } from "@convoke/protocol";
import type { ConversationView, ModelRetry } from "./conversation-view.ts";

/** What a server or a log says: of later versions it may have any shape, and what does not fit changes nothing. */
export type Fields = Readonly<Record<string, unknown>>;

/** Applies a field of a snapshot, or of a `ConversationStateUpdateEvent`; the same object for fields that no screen shows. */
export function foldField(view: ConversationView, key: string | undefined, value: unknown): ConversationView {
  const change = changeOf(view, key, value, asFields(value));
  return change === null ? view : { ...view, ...change };
}

function changeOf(
  view: ConversationView,
  key: string | undefined,
  value: unknown,
  fields: Fields | null,
): Partial<ConversationView> | null {
  switch (key) {
    case "execution_status":
      return { status: (textOf(value) ?? view.status) as ConversationExecutionStatus };
    case "stats":
      return { stats: (asFields(fields?.["usage_to_metrics"]) ?? view.stats) as ConversationView["stats"] };
    case "title":
      return { title: textOf(value) };
    case "agent":
      return {
        model: textOf(asFields(fields?.["llm"])?.["model"]) ?? view.model,
        isPlanning: fields?.["system_prompt_filename"] === "system_prompt_planning.j2",
      };
    case "workspace":
      return { workingDir: textOf(fields?.["working_dir"]) ?? view.workingDir };
    case "confirmation_policy":
      return { policy: textOf(fields?.["kind"]) ?? view.policy };
    case "max_budget_per_task":
      return { budget: typeof value === "number" ? value : null };
    case "parent_conversation_id":
      return { parentId: textOf(value) ?? view.parentId };
    case "model_retry":
      return { retry: fields === null ? null : retryOf(fields) };
    default:
      return null;
  }
}

/** Applies a whole conversation, as REST answers it or a `full_state` has it. One that is older than the view changes nothing (P36). */
export function foldSnapshot(view: ConversationView, snapshot: Fields): ConversationView {
  const version = typeof snapshot["version"] === "number" ? snapshot["version"] : view.version;
  if (version < view.version) return view;
  return Object.entries(snapshot).reduce(
    (folded, [key, value]) => (value === undefined ? folded : foldField(folded, key, value)),
    { ...view, version },
  );
}

export function asFields(value: unknown): Fields | null {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : null;
}

function textOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

function retryOf({ attempt, code, detail, until }: Fields): ModelRetry {
  return {
    attempt: typeof attempt === "number" ? attempt : 1,
    code: textOf(code) ?? "",
    detail: textOf(detail) ?? "",
    until: textOf(until),
  };
}
