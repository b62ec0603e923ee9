import type { Event } from "@convoke/protocol";
import type { EventDraft, EventMeta } from "../../events/event-draft.ts";
import { Fault } from "../../lib/fault.ts";
import { formatInstant } from "../../lib/instant.ts";
import type { ConversationState, OpenAction } from "../state/conversation-state.ts";
import type { ApprovalPolicy } from "../approval-policy.ts";
import { rejection } from "../../events/call-answers.ts";
import { startRun, stateUpdate, statusUpdate } from "../../events/state-update.ts";
import type { Decision } from "./decide.ts";

/** The user's answer to one action. */
export type ApprovalAnswer = {
  readonly action_id: string;
  readonly accept: boolean;
  readonly reason?: string;
};

/** Pending approvals, oldest first. */
export function awaiting(state: ConversationState): OpenAction[] {
  return state.openActions.filter(({ gate }) => gate === "awaiting");
}

/**
 * Accepts or rejects some pending actions (L23.13). The others stay pending; with the last answer the run resumes,
 * unless everything was rejected. `isKnown` distinguishes an action that was settled (conflict) from one that never
 * existed (not found).
 */
export function decideAnswers(
  state: ConversationState,
  answers: readonly ApprovalAnswer[],
  isKnown: (actionId: string) => boolean,
): Decision {
  const waiting = new Map(awaiting(state).map((action) => [action.id, action]));
  for (const { action_id: id } of answers) {
    if (waiting.has(id)) continue;
    throw isKnown(id)
      ? new Fault("conflict", "approval_settled", `The action ${id} does not wait for an answer any more.`)
      : new Fault("missing", "approval_not_found", `No action ${id} waits in this conversation.`);
  }
  const accepted = answers.filter(({ accept }) => accept).map(({ action_id: id }) => id);
  const rejected = answers.filter(({ accept }) => !accept);
  const drafts: EventDraft[] = [];
  if (accepted.length > 0) drafts.push(approval(accepted, "user"));
  for (const { action_id: id, reason } of rejected) {
    drafts.push(rejection(waiting.get(id)!, reason ?? "The user rejected this call."));
  }
  const settled = new Set(answers.map(({ action_id: id }) => id));
  const isLast = [...waiting.keys()].every((id) => settled.has(id));
  if (isLast && state.status === "waiting_for_confirmation")
    drafts.push(...resumeRun(state, accepted.length > 0));
  return { drafts };
}

/** The default answer for all pending actions; nothing if a client was faster. */
export function decideTimeout(state: ConversationState, policy: ApprovalPolicy): Decision {
  const left = awaiting(state);
  if (state.status !== "waiting_for_confirmation" || left.length === 0) return { drafts: [] };
  const isAccepted = policy.on_timeout === "accept";
  const text = `Nobody answered within ${policy.timeout_seconds} s, so the configured default rejected this call.`;
  return {
    drafts: [
      ...(isAccepted
        ? [
            approval(
              left.map(({ id }) => id),
              "deadline",
            ),
          ]
        : left.map((action) => rejection(action, text))),
      startRun([]),
    ],
  };
}

function resumeRun(state: ConversationState, isAnyAccepted: boolean): EventDraft[] {
  const isAnyApproved = isAnyAccepted || state.openActions.some(({ gate }) => gate === "approved");
  if (isAnyApproved) return [startRun([])];
  return [statusUpdate("idle"), ...(state.runWantedSeq > 0 ? [startRun([])] : [])];
}

/** A separate record: which actions may start, and who allowed them. */
function approval(ids: readonly string[], by: "user" | "deadline"): EventDraft {
  return { ...stateUpdate("approvals", { accepted: ids, by }), meta: { approved: ids } };
}

/** One pending action as clients read it. */
export function describeApproval(
  conversationId: string,
  event: Extract<Event, { kind: "ActionEvent" }>,
  meta: EventMeta,
  state: ConversationState,
  policy: ApprovalPolicy | null,
): Record<string, unknown> {
  const deadline = state.approvalDeadlineMs;
  return {
    conversation_id: conversationId,
    action_id: event.id,
    tool_name: event.tool_name,
    tool_call_id: event.tool_call_id,
    action: event.action,
    summary: event.summary ?? null,
    security_risk: meta.verdict?.risk ?? event.security_risk,
    reasons: meta.verdict?.reasons ?? [],
    requested_at: event.timestamp,
    deadline: deadline === null ? null : formatInstant(Math.round(deadline * 1000)),
    on_timeout: deadline === null ? null : (policy?.on_timeout ?? null),
  };
}
