import { Type, type Static } from "typebox";
import { LLM } from "../agent/llm.ts";
import { ApprovalPolicy } from "./approval-policy.ts";
import { conversationSeconds, runSeconds } from "./time-limits.ts";
import { WallKind } from "./wall.ts";
import { CommandReading, Rule, RuleDecision } from "../security/rule.ts";
import { SecurityRisk } from "../security/security-risk.ts";
import {
  anyObject,
  choice,
  closedObject,
  mapOf,
  nullable,
  object,
  orAbsent,
  orNull,
  ref,
} from "../schema.ts";

const id = Type.String({ format: "uuid" });

// Schemas that affect safety reject unknown fields: a misspelled field would otherwise silently remove a protection.

/** A pending action. */
export const PendingApproval = object("PendingApproval", {
  conversation_id: id,
  action_id: Type.String(),
  tool_name: Type.String(),
  tool_call_id: Type.String(),
  action: anyObject(),
  summary: orNull(Type.String()),
  security_risk: ref(SecurityRisk),
  reasons: Type.Array(Type.String(), { description: "What the security analyzer found." }),
  requested_at: Type.String({ format: "date-time" }),
  deadline: orNull(Type.String({ format: "date-time" })),
  on_timeout: orNull(choice(["accept", "reject"])),
  decided_by: nullable(ref(RuleDecision), { description: "The rule that asks, if one does." }),
  proposed_rules: Type.Array(ref(Rule), {
    description: "The narrowest rules that would allow it; empty if none can.",
  }),
  wall: nullable(WallKind, { description: "The wall that it would run behind; null in a sandbox." }),
});
export type PendingApproval = Static<typeof PendingApproval>;

export const PendingApprovals = object("PendingApprovals", { items: Type.Array(ref(PendingApproval)) });

/** Answers to some pending actions; all of them apply, or none. */
export const AnswerApprovalsRequest = closedObject("AnswerApprovalsRequest", {
  answers: Type.Array(
    Type.Object(
      {
        action_id: Type.String(),
        accept: Type.Boolean(),
        reason: Type.Optional(Type.String({ maxLength: 10_000 })),
        scope: Type.Optional(
          choice(["once", "conversation", "rule"], {
            description:
              "Where a rule is stored with the answer: nowhere (default), in the conversation, with the user.",
          }),
        ),
        rule: Type.Optional(
          ref(Rule, { description: "With a scope; without it the proposed rules of the action are stored." }),
        ),
      },
      { additionalProperties: false },
    ),
    { minItems: 1, maxItems: 100 },
  ),
});
export type AnswerApprovalsRequest = Static<typeof AnswerApprovalsRequest>;

/** The new policy; null: actions wait for ever. */
export const SetApprovalPolicyRequest = closedObject("SetApprovalPolicyRequest", {
  policy: orNull(ref(ApprovalPolicy)),
});
export type SetApprovalPolicyRequest = Static<typeof SetApprovalPolicyRequest>;

/** Past actions of the agent that rules would have decided about. */
export const AllowRulesTrial = object("AllowRulesTrial", {
  action_count: Type.Integer(),
  matches: Type.Array(
    Type.Object({
      action_id: Type.String(),
      tool_name: Type.String(),
      action: anyObject(),
      security_risk: ref(SecurityRisk),
      effect: choice(["allow", "ask", "deny"]),
      rule_index: Type.Integer({ description: "The position of the rule that decides, from 0." }),
      reading: nullable(ref(CommandReading)),
      was_asked: Type.Boolean(),
      was_rejected: Type.Boolean(),
    }),
  ),
});

/** Messages that the agent has not read yet, oldest first. */
export const QueuedMessages = object("QueuedMessages", {
  items: Type.Array(
    Type.Object({
      event_id: Type.String(),
      wants_run: Type.Boolean(),
      while_running: choice(["queue", "steer"], {
        description: "queue: it is delivered when the run has ended. steer: with the next model call.",
      }),
      message: anyObject(),
    }),
  ),
});

/** Limits to change; absent ones stay. */
export const SetLimitsRequest = closedObject("SetLimitsRequest", {
  max_iterations: Type.Optional(Type.Integer({ minimum: 1 })),
  max_budget_per_task: orAbsent(Type.Number({ exclusiveMinimum: 0, description: "US dollars; null: none." })),
  max_run_seconds: orAbsent(runSeconds),
  max_conversation_seconds: orAbsent(conversationSeconds),
});
export type SetLimitsRequest = Static<typeof SetLimitsRequest>;

export const ForkConversationRequest = object("ForkConversationRequest", {
  id: orAbsent(id),
  title: orAbsent(Type.String({ minLength: 1, maxLength: 200 })),
  tags: orAbsent(mapOf(Type.String({ maxLength: 256 }))),
  reset_metrics: Type.Optional(Type.Boolean({ default: true })),
  from_event_id: orAbsent(Type.String()),
});
export type ForkConversationRequest = Static<typeof ForkConversationRequest>;

/** The event to continue from; null or absent for the beginning. Unknown fields are rejected, so that a misspelled name does not mean that. */
export const NavigateConversationRequest = closedObject("NavigateConversationRequest", {
  event_id: orAbsent(Type.String()),
});
export type NavigateConversationRequest = Static<typeof NavigateConversationRequest>;

/** Message for the agent in addition to the approval of its plan. */
export const ApprovePlanRequest = closedObject("ApprovePlanRequest", {
  message: orAbsent(Type.String({ maxLength: 20_000 })),
});
export type ApprovePlanRequest = Static<typeof ApprovePlanRequest>;

/** A goal for the agent, until a judge considers it reached, and the maximum number of rounds. */
export const StartGoalRequest = closedObject("StartGoalRequest", {
  objective: Type.String({ minLength: 1, maxLength: 20_000 }),
  max_iterations: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, default: 10 })),
});
export type StartGoalRequest = Static<typeof StartGoalRequest>;

export const SwitchLLMRequest = object("SwitchLLMRequest", { llm: ref(LLM) });
export type SwitchLLMRequest = Static<typeof SwitchLLMRequest>;

export const SwitchProfileRequest = object("SwitchProfileRequest", {
  profile_name: Type.String(),
  profile_revision: orAbsent(
    Type.Integer({ minimum: 0, description: "A revision of the profile; the newest one unless given." }),
  ),
});
export type SwitchProfileRequest = Static<typeof SwitchProfileRequest>;

export const FinalResponse = object("FinalResponse", {
  response: Type.String(),
  structured_output: Type.Optional(
    anyObject({ description: "The same answer as JSON, where it is valid by a `response_schema`." }),
  ),
});

/** One call of a model and what it cost. */
export const ModelCallSpend = object("ModelCallSpend", {
  timestamp: Type.String({ format: "date-time" }),
  usage_id: Type.String(),
  model: Type.String(),
  cost: Type.Number({ description: "US dollars." }),
  prompt_tokens: Type.Integer(),
  completion_tokens: Type.Integer(),
});
export const ConversationSpend = object("ConversationSpend", {
  cost: Type.Number(),
  max_budget_per_task: orNull(Type.Number()),
  days: mapOf(Type.Number(), { description: "US dollars by day (UTC)." }),
  calls: Type.Array(ref(ModelCallSpend)),
});
export type ConversationSpend = Static<typeof ConversationSpend>;

/** Costs of all model calls of one user; days are in UTC. */
export const UserSpend = object("UserSpend", {
  cost: Type.Number({ description: "US dollars on all the days that were asked for." }),
  today: Type.Number({ description: "US dollars since midnight." }),
  max_budget_per_day: orNull(Type.Number({ description: "The limit that counts; null: none." })),
  own_max_budget_per_day: orNull(Type.Number({ description: "The limit that the user has set." })),
  days: mapOf(Type.Number(), { description: "US dollars by day." }),
  conversations: Type.Array(
    Type.Object({
      conversation_id: id,
      cost: Type.Number(),
      calls: Type.Integer(),
      prompt_tokens: Type.Integer(),
      completion_tokens: Type.Integer(),
      last_day: Type.String({ format: "date" }),
    }),
    { description: "The 1,000 dearest, dearest first; deleted ones too." },
  ),
});
export type UserSpend = Static<typeof UserSpend>;

/** The caller's spending limit. */
export const SetUserBudgetRequest = closedObject("SetUserBudgetRequest", {
  max_budget_per_day: nullable(Type.Number({ minimum: 0 }), {
    description: "US dollars; null: no limit beside the operator's.",
  }),
});
export type SetUserBudgetRequest = Static<typeof SetUserBudgetRequest>;
