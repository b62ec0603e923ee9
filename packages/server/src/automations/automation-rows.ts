import type { Selectable } from "kysely";
import type { Tables } from "../database/tables.ts";
import type { Automation, AutomationPlan, AutomationRun } from "./automation.ts";

type AutomationRow = Selectable<Tables["automations"]>;
type RunRow = Selectable<Tables["automation_runs"]>;

export function toDocument({
  name,
  trigger,
  prompt,
  conversation,
  approvals,
  overlap,
  catchUp,
}: AutomationPlan): string {
  return JSON.stringify({ name, trigger, prompt, conversation, approvals, overlap, catchUp });
}

export function toAutomation(row: AutomationRow): Automation {
  return {
    ...(JSON.parse(row.document) as AutomationPlan),
    id: row.id,
    ownerId: row.owner_id,
    version: row.version,
    isPaused: row.is_paused === 1,
    hasHookSecret: row.sealed_hook_secret !== null,
    nextDueMs: row.next_due_at,
    createdAtMs: row.created_at,
    updatedAtMs: row.updated_at,
  };
}

export function toRun(row: RunRow): AutomationRun {
  return {
    id: row.id,
    automationId: row.automation_id,
    dueKey: row.due_key,
    origin: row.origin as AutomationRun["origin"],
    state: row.state as AutomationRun["state"],
    reason: row.reason,
    dueAtMs: row.due_at,
    lastDueAtMs: row.last_due_at,
    count: row.count,
    conversationId: row.conversation_id,
    payload: row.payload,
    nodeId: row.node_id,
    attempts: row.attempts,
    createdAtMs: row.created_at,
    startedAtMs: row.started_at,
    endedAtMs: row.ended_at,
  };
}
