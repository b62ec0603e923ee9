import { randomUUID } from "node:crypto";
import type { ToolCallUpdate } from "@agentclientprotocol/sdk";
import { denialOfLast } from "../../events/call-answers.ts";
import type { EventDraft } from "../../events/event-draft.ts";
import { assessCall } from "../../security/analyzers/analyzer.ts";
import { needsConfirmation } from "../../security/confirmation.ts";
import { decideByRules } from "../../security/rules/decide-by-rules.ts";
import { denialText } from "../../security/rules/describe-rule.ts";
import type { RuleDecision, RulePlaces, SourcedRule } from "../../security/rules/rule.ts";
import type { ConversationConfig } from "../conversation-config.ts";
import { toPermissionCall, type PermissionCall } from "./permission-call.ts";

export type PermissionContext = {
  readonly config: Pick<ConversationConfig, "confirmation_policy" | "security_analyzer">;
  readonly rules: readonly SourcedRule[];
  readonly places: RulePlaces;
};

export type CallDecision = {
  /** Of a rule; null where none fits. */
  readonly decision: RuleDecision | null;
  readonly verdict: ReturnType<typeof assessCall>;
  /** A rule or the policy wants a person to answer. */
  readonly isAsked: boolean;
};

/** What rules, the analyzer and the policy say about a call of the agent. */
export function decideCall(call: PermissionCall, { config, rules, places }: PermissionContext): CallDecision {
  const verdict = assessCall(config.security_analyzer, { ...call, words: [] });
  const { toolName, action } = call;
  const { decision } = decideByRules(rules, { toolName, action, risk: verdict.risk, places });
  const batch = decision === null ? [{ needsNoApproval: false, alwaysAsks: false, risk: verdict.risk }] : [];
  const isAsked = decision?.effect === "ask" || needsConfirmation(config.confirmation_policy, batch);
  return { decision, verdict, isAsked };
}

/**
 * A request for permission as an action of ours: it waits, may start, or was denied by a rule. What the agent does with the permission is
 * in its own calls.
 */
export function permissionEvents(
  given: ToolCallUpdate,
  context: PermissionContext,
): { readonly drafts: readonly EventDraft[]; readonly isDenied: boolean } {
  const call = toPermissionCall(given);
  const { decision, isAsked, verdict } = decideCall(call, context);
  const { action, toolName } = call;
  const { kind: _, ...values } = action;
  const callId = given.toolCallId;
  const event: EventDraft = {
    body: {
      kind: "ActionEvent",
      source: "agent",
      thought: [],
      thinking_blocks: [],
      action,
      tool_name: toolName,
      tool_call_id: callId,
      tool_call: { id: callId, name: toolName, arguments: JSON.stringify(values), origin: "completion" },
      llm_response_id: `acp-${randomUUID()}`,
      security_risk: verdict.risk,
      summary: given.title ?? toolName,
    },
    meta: {
      gate: isAsked ? "awaiting" : "approved",
      ...(verdict.reasons.length === 0 ? {} : { verdict }),
      ...(decision === null ? {} : { decidedBy: decision }),
    },
  };
  if (decision?.effect !== "deny") return { drafts: [event], isDenied: false };
  const { gate: _gate, ...meta } = event.meta!;
  const denial = denialOfLast({ toolName, toolCallId: callId }, denialText(decision));
  return {
    drafts: [
      { ...event, meta },
      { ...denial, meta: { isFinal: true } },
    ],
    isDenied: true,
  };
}
