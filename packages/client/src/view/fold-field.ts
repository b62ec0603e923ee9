import type { ConversationExecutionStatus } from "@convoke/protocol";
import type { ConversationView, ModelRetry } from "./conversation-view.ts";
import { asRecord, type UnknownRecord } from "./unknown-record.ts";

/** Applies a field of a snapshot, or of a `ConversationStateUpdateEvent`; the same object for fields that no screen shows. */
export function foldField(view: ConversationView, key: string | undefined, value: unknown): ConversationView {
  const change = changeOf(view, key, value, asRecord(value));
  return change === null ? view : { ...view, ...change };
}

function changeOf(
  view: ConversationView,
  key: string | undefined,
  value: unknown,
  fields: UnknownRecord | null,
): Partial<ConversationView> | null {
  switch (key) {
    case "execution_status":
      return { status: (textOf(value) ?? view.status) as ConversationExecutionStatus };
    case "stats":
      return { stats: (asRecord(fields?.["usage_to_metrics"]) ?? view.stats) as ConversationView["stats"] };
    case "title":
      return { title: textOf(value) };
    case "agent":
      return {
        model: modelOf(fields) ?? view.model,
        isOtherAgent: fields?.["kind"] === "ACPAgent",
        isPlanning: fields?.["system_prompt_filename"] === "system_prompt_planning.j2",
      };
    case "current_model_id":
      return { model: textOf(value) ?? view.model };
    case "acp_session":
      return { model: textOf(fields?.["current_model_id"]) ?? view.model };
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
export function foldSnapshot(view: ConversationView, snapshot: UnknownRecord): ConversationView {
  const version = typeof snapshot["version"] === "number" ? snapshot["version"] : view.version;
  if (version < view.version) return view;
  return Object.entries(snapshot).reduce(
    (folded, [key, value]) => (value === undefined ? folded : foldField(folded, key, value)),
    { ...view, version },
  );
}

/** The `llm` of another agent is not what it works with. */
function modelOf(agent: UnknownRecord | null): string | null {
  return textOf(agent?.["kind"] === "ACPAgent" ? agent["acp_model"] : asRecord(agent?.["llm"])?.["model"]);
}

function textOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

function retryOf({ attempt, code, detail, until }: UnknownRecord): ModelRetry {
  return {
    attempt: typeof attempt === "number" ? attempt : 1,
    code: textOf(code) ?? "",
    detail: textOf(detail) ?? "",
    until: textOf(until),
  };
}
