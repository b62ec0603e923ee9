import type { Automation as AutomationReply, AutomationRun as RunReply } from "@convoke/protocol";
import type { Automation, AutomationRun } from "./automation.ts";

/** An automation as its owner sees it. */
export function toReply(automation: Automation, lastRun: AutomationRun | null): AutomationReply {
  const { catchUp, ownerId, isPaused, hasHookSecret, nextDueMs } = automation;
  return {
    id: automation.id,
    name: automation.name,
    is_paused: isPaused,
    trigger: automation.trigger,
    prompt: automation.prompt,
    conversation: automation.conversation,
    approvals: automation.approvals,
    overlap: automation.overlap,
    catch_up: catchUp,
    owner: ownerId,
    has_hook_secret: hasHookSecret,
    next_due_at: textOr(nextDueMs),
    last_run: lastRun === null ? null : toRunReply(lastRun),
    created_at: new Date(automation.createdAtMs).toISOString(),
    updated_at: new Date(automation.updatedAtMs).toISOString(),
  };
}

/** A run as the owner of its automation sees it. */
export function toRunReply(run: AutomationRun): RunReply {
  return {
    id: run.id,
    automation_id: run.automationId,
    origin: run.origin,
    state: run.state,
    reason: run.reason,
    due_at: new Date(run.dueAtMs).toISOString(),
    last_due_at: textOr(run.lastDueAtMs),
    count: run.count,
    conversation_id: run.conversationId,
    created_at: new Date(run.createdAtMs).toISOString(),
    started_at: textOr(run.startedAtMs),
    ended_at: textOr(run.endedAtMs),
  };
}

function textOr(atMs: number | null): string | null {
  return atMs === null ? null : new Date(atMs).toISOString();
}
