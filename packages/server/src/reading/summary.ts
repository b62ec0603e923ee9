import type { Glance, MetricsSnapshot } from "@convoke/protocol";
import { formatInstant } from "../lib/instant.ts";
import { awaiting } from "../engine/commands/approvals.ts";
import { combinedMetrics, type ConversationInfoSource } from "../engine/state/conversation-info.ts";

/** The summary of a conversation; its cost does not depend on the log's length. */
export function toSummary({ config, marks, state, ...described }: ConversationInfoSource): Glance {
  const { llm } = config.agent;
  const { accumulated_token_usage: usage } = (state.stats[llm.usage_id ?? "default"] ??
    {}) as MetricsSnapshot;
  const { approvalDeadlineMs: deadline, goal } = state;
  return {
    kind: "Glance",
    id: described.id,
    title: described.title,
    execution_status: state.status,
    created_at: formatInstant(described.createdAtMicros),
    updated_at: formatInstant(described.updatedAtMicros),
    version: state.lastSeq,
    last_event_id: state.lastId,
    waiting: state.status === "waiting_for_confirmation" ? awaiting(state).length : 0,
    deadline: deadline === null ? null : formatInstant(Math.round(deadline * 1000)),
    queued: state.queued.filter(({ isFromUser }) => isFromUser).length + state.held.length,
    cost: combinedMetrics(state)?.accumulated_cost ?? 0,
    context_tokens: usage?.per_turn_token ?? 0,
    context_window: usage?.context_window ?? 0,
    model: llm.model ?? null,
    retry_until: state.retryUntil,
    goal: goal?.active === true ? goal.objective : null,
    plan: state.plan,
    last_text: state.lastText,
    tags: { ...config.tags },
    working_dir: config.workspace.working_dir,
    sandbox_id: config.sandbox_id ?? null,
    parent_conversation_id: config.parent?.conversation_id ?? null,
    is_pinned: marks.isPinned,
    is_archived: marks.isArchived,
    read_event_id: marks.readEventId,
  };
}
