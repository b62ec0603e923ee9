import type { Event, Rule, WallKind } from "@convoke/protocol";
import type { EventDraft, EventMeta } from "../../events/event-draft.ts";
import { Fault } from "../../lib/fault.ts";
import { formatInstant } from "../../lib/instant.ts";
import { askReason } from "../../security/rules/describe-rule.ts";
import { proposeRules } from "../../security/rules/propose-rules.ts";
import type { RuledCall, RulePlaces } from "../../security/rules/rule.ts";
import type { ConversationState, OpenAction } from "../state/conversation-state.ts";
import type { ApprovalPolicy } from "../approval-policy.ts";
import type { ReviewAnswer, ReviewRecord } from "../ports.ts";
import { rejection } from "../../events/call-answers.ts";
import { startRun, stateUpdate, statusUpdate } from "../../events/state-update.ts";
import type { Decision } from "./decide.ts";

/** The user's answer to one action. */
export type ApprovalAnswer = {
  readonly action_id: string;
  readonly accept: boolean;
  readonly reason?: string;
  readonly scope?: AnswerScope;
  /** Stored with a scope other than once; the proposed ones unless given. */
  readonly rule?: Rule;
};

/** Where rules are stored with an answer: nowhere, in the conversation, with its user. */
export type AnswerScope = "once" | "conversation" | "rule";

/** An answer as the log records it. */
export type RecordedAnswer = {
  readonly action_id: string;
  readonly accept: boolean;
  readonly scope: AnswerScope;
  readonly rules: readonly Rule[];
};

export type AnswerFacts = {
  /** Distinguishes an action that was settled (conflict) from one that never existed (not found). */
  readonly isKnown: (actionId: string) => boolean;
  readonly userId: string;
  readonly recorded: readonly RecordedAnswer[];
};

/** Pending approvals, oldest first. */
export function awaiting(state: ConversationState): OpenAction[] {
  return state.openActions.filter(({ gate }) => gate === "awaiting");
}

/**
 * Accepts or rejects some pending actions (L23.13). The others stay pending; with the last answer the run resumes,
 * unless everything was rejected. One record says who gave which answers, and which rules were stored with them.
 */
export function decideAnswers(
  state: ConversationState,
  answers: readonly ApprovalAnswer[],
  { isKnown, userId, recorded }: AnswerFacts,
): Decision {
  const waiting = new Map(awaiting(state).map((action) => [action.id, action]));
  for (const { action_id: id } of answers) {
    if (waiting.has(id)) continue;
    throw isKnown(id)
      ? new Fault(
          "conflict",
          "approval_settled",
          `The action ${id} was answered already, or its deadline has passed. Read the log to see the answer.`,
        )
      : new Fault("missing", "approval_not_found", `No action ${id} waits in this conversation.`);
  }
  const accepted = answers.filter(({ accept }) => accept).map(({ action_id: id }) => id);
  const rejected = answers.filter(({ accept }) => !accept);
  const drafts: EventDraft[] = [approval(accepted, { by: "user", user: userId, answers: recorded })];
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
  if (policy.timeout_seconds === undefined) return { drafts: [] };
  if (state.status !== "waiting_for_confirmation" || left.length === 0) return { drafts: [] };
  const isAccepted = policy.on_timeout === "accept";
  const text = `Nobody answered within ${policy.timeout_seconds} s, so the configured default rejected this call.`;
  return {
    drafts: [
      ...(isAccepted
        ? [
            approval(
              left.map(({ id }) => id),
              { by: "deadline" },
            ),
          ]
        : left.map((action) => rejection(action, text))),
      startRun([]),
    ],
  };
}

function resumeRun(state: ConversationState, isAnyAccepted: boolean): EventDraft[] {
  const isAnyApproved = isAnyAccepted || state.openActions.some(({ gate }) => gate === "approved");
  // Another agent continues after a rejection.
  if (isAnyApproved || state.acp.isPrompting) return [startRun([])];
  return [statusUpdate("idle"), ...(state.runWantedSeq > 0 ? [startRun([])] : [])];
}

type ApprovalFacts =
  | { readonly by: "user"; readonly user: string; readonly answers: readonly RecordedAnswer[] }
  | { readonly by: "deadline" }
  | {
      readonly by: "reviewer";
      readonly model: string | null;
      readonly profile: string;
      readonly answers: readonly ReviewAnswer[];
    };

/** A separate record: which actions may start, and who allowed them. */
function approval(ids: readonly string[], facts: ApprovalFacts): EventDraft {
  return { ...stateUpdate("approvals", { accepted: ids, ...facts }), meta: { approved: ids } };
}

/** The reviewer is about to be asked about these actions: a run that continues without its answer asks the person. */
export function reviewBegun(actions: readonly OpenAction[]): EventDraft {
  const ids = actions.map(({ id }) => id);
  return {
    ...stateUpdate("review", { asked: ids }),
    meta: { reviewed: Object.fromEntries(ids.map((id) => [id, ""])) },
  };
}

/**
 * What the reviewer said. Actions of the same answer that a rule allows wait only for the others, so that they are approved with the last
 * of these; `covered` names them.
 */
export function decideReview(
  state: ConversationState,
  { model, profile, answers }: Omit<ReviewRecord, "conversation">,
  covered: ReadonlySet<string>,
): EventDraft[] {
  const waiting = awaiting(state);
  const known = answers.filter(({ action_id: id }) => waiting.some((action) => action.id === id));
  if (known.length === 0) return [];
  const allowed = new Set(known.filter(({ accept }) => accept).map(({ action_id: id }) => id));
  const isAll = waiting.every(({ id }) => allowed.has(id) || covered.has(id));
  const approved = waiting.map(({ id }) => id).filter((id) => allowed.has(id) || (isAll && covered.has(id)));
  const { meta, ...draft } = approval(approved, { by: "reviewer", model, profile, answers: known });
  const left = known
    .filter(({ accept }) => !accept)
    .map(({ action_id: id, reason }) => [id, reason] as const);
  return [{ ...draft, meta: { ...meta, reviewed: Object.fromEntries(left) } }];
}

/** One pending action as clients read it. */
export function describeApproval(
  conversationId: string,
  event: Extract<Event, { kind: "ActionEvent" }>,
  meta: EventMeta,
  { state, policy, places, wall }: ApprovalSurroundings,
): Record<string, unknown> {
  const deadline = state.approvalDeadlineMs;
  const { decidedBy = null } = meta;
  const call = callOf({ event, meta }, places);
  const review = state.openActions.find(({ id }) => id === event.id)?.review;
  return {
    conversation_id: conversationId,
    action_id: event.id,
    tool_name: event.tool_name,
    tool_call_id: event.tool_call_id,
    action: event.action,
    summary: event.summary ?? null,
    security_risk: meta.verdict?.risk ?? event.security_risk,
    reasons: [
      ...(decidedBy?.effect === "ask" ? [askReason(decidedBy)] : []),
      ...(meta.verdict?.reasons ?? []),
      ...(review === undefined ? [] : [reviewReason(review)]),
    ],
    requested_at: event.timestamp,
    deadline: deadline === null ? null : formatInstant(Math.round(deadline * 1000)),
    on_timeout: deadline === null ? null : (policy?.on_timeout ?? null),
    decided_by: decidedBy,
    proposed_rules: call === null ? [] : proposeRules(call),
    wall,
  };
}

function reviewReason(reason: string): string {
  return reason === "" ? "the reviewer gave no answer" : `the reviewer did not allow it: ${reason}`;
}

export type ApprovalSurroundings = {
  readonly state: ConversationState;
  readonly policy: ApprovalPolicy | null;
  readonly places: RulePlaces;
  /** Null in a sandbox. */
  readonly wall: WallKind | null;
};

/** A stored action as rules see it; null for an event that is none. */
export function callOf(
  { event, meta }: { readonly event: Event; readonly meta: EventMeta },
  places: RulePlaces,
): RuledCall | null {
  if (event.kind !== "ActionEvent" || !event.action) return null;
  const risk = meta.verdict?.risk ?? event.security_risk ?? "UNKNOWN";
  return { toolName: event.tool_name, action: event.action, risk, places };
}
