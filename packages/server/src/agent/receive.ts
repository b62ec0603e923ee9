import type { ConfirmationPolicy, MessageToolCall, SecurityAnalyzer, SecurityRisk } from "@convoke/protocol";
import type { EventBody, EventDraft, EventMeta } from "../journal/event-draft.ts";
import type { ModelResponse } from "../models/model.ts";
import { assessRisk, needsConfirmation } from "../security/confirmation.ts";
import type { BadCall, UnderstoodCall } from "./tool-call.ts";

export type ReceiveContext = {
  /** The highest `seq` that the request had seen. */
  readonly sawSeq: number;
  readonly readCall: (call: MessageToolCall) => UnderstoodCall | BadCall;
  readonly analyzer: SecurityAnalyzer | null;
  readonly policy: ConfirmationPolicy;
};

type Read = {
  readonly call: MessageToolCall;
  readonly read: UnderstoodCall | BadCall;
  readonly risk: SecurityRisk;
};

const nudge =
  "Your last answer had neither text nor a tool call. Go on with the task: call a tool, or say that you are done with finish.";

const afterFinish = "Not executed: this call came after finish in the same answer.";

/**
 * A model's answer as events, all of which commit together: one ActionEvent per call in the order of the calls, answered
 * at once where it cannot or must not run; or one message, followed by a nudge when it says nothing.
 */
export function receiveResponse(response: ModelResponse, context: ReceiveContext): EventDraft[] {
  const { message } = response;
  return message.toolCalls.length > 0
    ? receiveCalls(response, context)
    : receiveMessage(response, context.sawSeq);
}

function receiveMessage({ id, message }: ModelResponse, sawSeq: number): EventDraft[] {
  const said: EventDraft = {
    body: {
      kind: "MessageEvent",
      source: "agent",
      llm_message: {
        role: "assistant",
        content: [...message.content],
        thinking_blocks: [...message.thinkingBlocks],
        ...(message.reasoningContent === null ? {} : { reasoning_content: message.reasoningContent }),
        ...(message.reasoningItem === null ? {} : { responses_reasoning_item: message.reasoningItem }),
      },
      llm_response_id: id,
      activated_skills: [],
      extended_content: [],
    },
    meta: { sawSeq },
  };
  const isSilent = message.content.every((part) => part.text.trim() === "");
  return isSilent ? [said, environmentMessage(nudge)] : [said];
}

/** A message of the scaffold to the model; never attributed to the user (L23.14). */
export function environmentMessage(text: string, meta?: EventMeta): EventDraft {
  return {
    ...(meta === undefined ? {} : { meta }),
    body: {
      kind: "MessageEvent",
      source: "environment",
      llm_message: {
        role: "user",
        content: [{ type: "text", text, cache_prompt: false }],
        thinking_blocks: [],
      },
      activated_skills: [],
      extended_content: [],
    },
  };
}

function receiveCalls(response: ModelResponse, context: ReceiveContext): EventDraft[] {
  const calls: Read[] = response.message.toolCalls.map((call) => {
    const read = context.readCall(call);
    return {
      call,
      read,
      risk: read.ok ? assessRisk(context.analyzer, read.tool, read.predictedRisk) : "UNKNOWN",
    };
  });
  const finishIndex = calls.findIndex(({ read }) => read.ok && read.tool.name === "finish");
  const isDropped = (index: number) => finishIndex !== -1 && index > finishIndex;
  const batch = calls.flatMap(({ read, risk }, index) =>
    read.ok && !isDropped(index) ? [{ toolName: read.tool.name, risk }] : [],
  );
  const gate = needsConfirmation(context.policy, batch) ? "awaiting" : "approved";

  return calls.flatMap(({ call, read, risk }, index): EventDraft[] => {
    const meta: EventMeta = index === 0 ? { sawSeq: context.sawSeq } : {};
    if (read.ok && !isDropped(index)) {
      return [{ body: actionEvent(response, index, call, read, risk), meta: { ...meta, gate } }];
    }
    const error = read.ok ? afterFinish : read.error;
    const toolName = read.ok ? read.tool.name : call.name;
    return [
      { body: actionEvent(response, index, call, null, "UNKNOWN"), meta },
      {
        body: { kind: "AgentErrorEvent", source: "agent", tool_name: toolName, tool_call_id: call.id, error },
        ...(read.ok ? { meta: { isFinal: true } } : {}),
      },
    ];
  });
}

function actionEvent(
  { id, message }: ModelResponse,
  index: number,
  call: MessageToolCall,
  read: UnderstoodCall | null,
  risk: SecurityRisk,
): EventBody {
  const isFirst = index === 0;
  return {
    kind: "ActionEvent",
    source: "agent",
    thought: isFirst ? [...message.content] : [],
    ...(isFirst && message.reasoningContent !== null ? { reasoning_content: message.reasoningContent } : {}),
    thinking_blocks: isFirst ? [...message.thinkingBlocks] : [],
    ...(isFirst && message.reasoningItem !== null ? { responses_reasoning_item: message.reasoningItem } : {}),
    ...(read === null ? {} : { action: read.action }),
    tool_name: read === null ? call.name : read.tool.name,
    tool_call_id: call.id,
    tool_call: read === null ? call : { ...call, name: read.tool.name },
    llm_response_id: id,
    security_risk: risk,
    ...(read === null ? {} : { summary: read.summary }),
  };
}
