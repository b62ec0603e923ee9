import type { ConfirmationPolicy, Event, MessageToolCall, SecurityRisk } from "@convoke/protocol";
import type { EventBody, EventDraft, EventMeta } from "../events/event-draft.ts";
import type { ModelResponse } from "../models/model.ts";
import { maxCalls } from "../models/max-calls.ts";
import { assessCall, type AnalyzerConfig } from "../security/analyzers/analyzer.ts";
import type { Verdict } from "../security/analyzers/verdict.ts";
import { needsConfirmation } from "../security/confirmation.ts";
import { denialText } from "../security/rules/describe-rule.ts";
import type { RuleDecision } from "../security/rules/rule.ts";
import { denialOfLast } from "../events/call-answers.ts";
import { parseArguments } from "./tool-arguments.ts";
import type { BadCall, UnderstoodCall } from "./tool-call.ts";
import { withoutUndefined } from "../lib/without-undefined.ts";

export type ReceiveContext = {
  /** The highest `seq` that the request had seen. */
  readonly sawSeq: number;
  readonly readCall: (call: MessageToolCall) => UnderstoodCall | BadCall;
  readonly analyzer: AnalyzerConfig | null;
  readonly policy: ConfirmationPolicy;
  /** Whether a reviewer is asked before a person. */
  readonly hasReviewer?: boolean;
  /** The rule that decides about a call; null when none does. */
  readonly decide?: (call: UnderstoodCall, verdict: Verdict) => RuleDecision | null;
};

type Read = {
  readonly call: MessageToolCall;
  readonly read: UnderstoodCall | BadCall;
  readonly verdict: Verdict;
  readonly decision: RuleDecision | null;
};

const unknown: Verdict = { risk: "UNKNOWN", reasons: [] };

const nudge =
  "Your last answer had neither text nor a tool call. Go on with the task: call a tool, or say that you are done with finish.";

const continueText =
  "Your last answer was cut off at the limit of its length. Go on from where it ended; do not repeat what you have said.";

/** True for the message behind an answer that was cut off: what the agent says next belongs to it. */
export function isGoOn(event: Event): boolean {
  if (event.kind !== "MessageEvent" || event.source !== "environment") return false;
  return (event.llm_message.content ?? []).some((part) => "text" in part && part.text === continueText);
}

const cutThought =
  "Your last answer reached the limit of its length before it said anything. Think less at a time: make the next call, or answer briefly.";

const afterFinish = "Not executed: this call came after finish in the same answer.";

/**
 * A model's answer as events, all of which commit together: one ActionEvent per call in the order of the calls, answered
 * at once where it cannot or must not run; or one message, followed by a nudge when it says nothing or is cut off.
 */
export function receiveResponse(response: ModelResponse, context: ReceiveContext): EventDraft[] {
  const { message } = response;
  return message.toolCalls.length > 0
    ? receiveCalls(response, context)
    : receiveMessage(response, context.sawSeq);
}

function receiveMessage({ id, message, isTruncated }: ModelResponse, sawSeq: number): EventDraft[] {
  const answerDraft: EventDraft = {
    body: {
      kind: "MessageEvent",
      source: "agent",
      llm_message: withoutUndefined({
        role: "assistant",
        content: [...message.content],
        thinking_blocks: [...message.thinkingBlocks],
        reasoning_content: message.reasoningContent ?? undefined,
        responses_reasoning_item: message.reasoningItem ?? undefined,
      }),
      llm_response_id: id,
      activated_skills: [],
      extended_content: [],
    },
    meta: withoutUndefined({ sawSeq, replay: message.replay }),
  };
  const isSilent = message.content.every((part) => part.text.trim() === "");
  if (isTruncated) return [answerDraft, environmentMessage(isSilent ? cutThought : continueText)];
  return isSilent ? [answerDraft, environmentMessage(nudge)] : [answerDraft];
}

/** A message of the scaffold to the model; never attributed to the user (L23.14). */
export function environmentMessage(text: string, meta?: EventMeta): EventDraft {
  const body: EventBody = {
    kind: "MessageEvent",
    source: "environment",
    llm_message: {
      role: "user",
      content: [{ type: "text", text, cache_prompt: false }],
      thinking_blocks: [],
    },
    activated_skills: [],
    extended_content: [],
  };
  return withoutUndefined({ meta, body });
}

/** Calls of one answer that are run. More than these are a model that repeats itself. */
const maxRun = 256;
/** Arguments of a call that is not run are shown as they were only when they are short. */
const maxShownChars = 2_000;

function receiveCalls(given: ModelResponse, context: ReceiveContext): EventDraft[] {
  const response = withBoundedCalls(given);
  const { toolCalls } = response.message;
  const tooMany = tooManyCalls(given.message.toolCalls.length);
  const calls: Read[] = toolCalls.map((call, index) => {
    if (index >= maxRun) return { call, read: tooMany, verdict: unknown, decision: null };
    const isCut = response.isTruncated && index === toolCalls.length - 1 && !isWhole(call.arguments);
    const read = isCut ? cutCall(call.name) : context.readCall(call);
    if (!read.ok) return { call, read, verdict: unknown, decision: null };
    const verdict = judge(read, response, context.analyzer);
    return { call, read, verdict, decision: context.decide?.(read, verdict) ?? null };
  });
  const finishIndex = calls.findIndex(({ read }) => read.ok && read.tool.traits?.endsTurn === true);
  const isDropped = (index: number) => finishIndex !== -1 && index > finishIndex;
  const batch = calls.flatMap(({ read, verdict, decision }, index) => {
    if (!read.ok || isDropped(index) || isSettledBy(decision)) return [];
    const { needsNoApproval = false, alwaysAsks = false } = read.tool.traits ?? {};
    return [{ needsNoApproval, alwaysAsks, risk: verdict.risk }];
  });
  const isAsked = calls.some(({ decision }, index) => decision?.effect === "ask" && !isDropped(index));
  const gate = isAsked || needsConfirmation(context.policy, batch) ? "awaiting" : "approved";

  const { replay } = response.message;
  const firstMeta: EventMeta = withoutUndefined({ sawSeq: context.sawSeq, replay });
  return calls.flatMap(({ call, read, verdict, decision }, index): EventDraft[] => {
    const meta: EventMeta = index === 0 ? firstMeta : {};
    if (read.ok && !isDropped(index)) {
      const risk = shownRisk(read, verdict, context.analyzer);
      const why = {
        ...(verdict.reasons.length === 0 ? {} : { verdict }),
        ...(decision === null ? {} : { decidedBy: decision }),
      };
      const body = actionEvent(response, index, call, read, risk);
      const isLeft = decision === null && read.tool.traits?.alwaysAsks !== true;
      const isReviewable = context.hasReviewer === true && gate === "awaiting" && isLeft;
      const endsTurn = read.tool.traits?.endsTurn === true;
      const output = endsTurn && read.answer ? { structuredOutput: read.answer } : {};
      const review = isReviewable ? { reviewable: { risk: verdict.risk } } : {};
      if (decision?.effect !== "deny")
        return [{ body, meta: { ...meta, gate, ...why, ...review, ...output } }];
      const denied = { toolName: read.tool.name, toolCallId: call.id };
      return [{ body, meta: { ...meta, ...why } }, denialOfLast(denied, denialText(decision))];
    }
    const error = read.ok ? afterFinish : read.error;
    const toolName = read.ok ? read.tool.name : call.name;
    const body: EventBody = {
      kind: "AgentErrorEvent",
      source: "agent",
      tool_name: toolName,
      tool_call_id: call.id,
      error,
    };
    return [
      { body: actionEvent(response, index, call, null, "UNKNOWN"), meta },
      read.ok
        ? { body, meta: { isFinal: true } }
        : { body, ...(read.isAnswer === true ? { meta: { isRefusedAnswer: true } } : {}) },
    ];
  });
}

function isSettledBy(decision: RuleDecision | null): boolean {
  return decision?.effect === "allow" || decision?.effect === "deny";
}

/** The provider's own items are given back whole or not at all, so they go where calls are left out. */
function withBoundedCalls(response: ModelResponse): ModelResponse {
  const { toolCalls, replay: _, ...answerDraft } = response.message;
  if (toolCalls.length <= maxRun) return response;
  const read = toolCalls.slice(0, maxCalls).map((call, index) => {
    const isShown = index < maxRun || call.arguments.length <= maxShownChars;
    return isShown ? call : { ...call, arguments: "{}" };
  });
  return { ...response, message: { ...answerDraft, toolCalls: read } };
}

function tooManyCalls(count: number): BadCall {
  const left = count < maxCalls ? "" : ` Those behind the ${maxCalls}th are left out.`;
  const error = `Not executed: of one answer ${maxRun} calls are run, and this one is behind them.${left} Make the next calls in another answer.`;
  return { ok: false, error };
}

/** Adapters write `{}` where nothing of the arguments came. */
function isWhole(text: string): boolean {
  const { ok } = parseArguments(text);
  return ok && !["", "{}"].includes(text.trim());
}

/** Sent again as it was, the call would be cut off again. */
function cutCall(name: string): BadCall {
  const error =
    `The answer was cut off at the limit of its length in the middle of this call of ${name}, so it was not run. ` +
    "Make it again with less in it: write large files and long commands in several calls.";
  return { ok: false, error };
}

function judge(read: UnderstoodCall, { message }: ModelResponse, analyzer: AnalyzerConfig | null): Verdict {
  const words = [...message.content.map(({ text }) => text), message.reasoningContent ?? "", read.summary];
  return assessCall(analyzer, {
    toolName: read.tool.name,
    runsShell: read.tool.traits?.shellField !== undefined,
    isReadOnly: read.tool.isReadOnly,
    action: read.action,
    predictedRisk: read.predictedRisk,
    words,
  });
}

/** The model's own estimate, as clients know it; the verdict where it gave none. The verdict alone decides about asking. */
function shownRisk(read: UnderstoodCall, verdict: Verdict, analyzer: AnalyzerConfig | null): SecurityRisk {
  return analyzer === null || read.tool.isReadOnly ? verdict.risk : (read.predictedRisk ?? verdict.risk);
}

function actionEvent(
  { id, message }: ModelResponse,
  index: number,
  call: MessageToolCall,
  read: UnderstoodCall | null,
  risk: SecurityRisk,
): EventBody {
  const isFirst = index === 0;
  return withoutUndefined({
    kind: "ActionEvent",
    source: "agent",
    thought: isFirst ? [...message.content] : [],
    reasoning_content: isFirst ? (message.reasoningContent ?? undefined) : undefined,
    thinking_blocks: isFirst ? [...message.thinkingBlocks] : [],
    responses_reasoning_item: isFirst ? (message.reasoningItem ?? undefined) : undefined,
    action: read?.action,
    tool_name: read === null ? call.name : read.tool.name,
    tool_call_id: call.id,
    tool_call: read === null ? call : { ...call, name: read.tool.name },
    llm_response_id: id,
    security_risk: risk,
    summary: read?.summary,
  });
}
