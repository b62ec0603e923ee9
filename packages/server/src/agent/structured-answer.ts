import type { MessageToolCall } from "@convoke/protocol";
import type { ToolListing } from "@convoke/tool-host";
import type { EventDraft } from "../events/event-draft.ts";
import { warning } from "../events/warning.ts";
import { isObject, type JsonObject } from "../lib/json-object.ts";
import { withoutFence } from "../lib/without-fence.ts";
import type { ModelResponse } from "../models/model.ts";
import { answerIn, type AnswerForm } from "./answer-form.ts";
import { environmentMessage, isGoOn, receiveResponse, type ReceiveContext } from "./receive.ts";
import type { ViewEvent } from "./history-view.ts";
import { parseArguments } from "./tool-arguments.ts";
import type { BadCall, UnderstoodCall } from "./tool-call.ts";

/** What an answer is held against. */
export type AnswerTurn = {
  readonly form: AnswerForm;
  /** The tool that ends the run; null if the agent has none. */
  readonly finish: ToolListing | null;
  /** Answers of this turn that were refused already. */
  readonly refusals: number;
  readonly view: readonly ViewEvent[];
};

/** Refusals of a turn; after the last one the run ends with the text. */
const maxRefusals = 2;

/**
 * {@link receiveResponse} of an answer that has a form. A call of finish and a last message are checked: a valid one is stored as the
 * structured answer, the first that is not valid goes back to the model with its errors, and the second ends the run with a warning.
 */
export function receiveAnswer(
  response: ModelResponse,
  context: ReceiveContext,
  turn: AnswerTurn | null,
): EventDraft[] {
  if (turn === null) return receiveResponse(response, context);
  if (response.message.toolCalls.length === 0) return receiveText(response, context, turn);
  let unmet: string | null = null;
  const drafts = receiveResponse(response, {
    ...context,
    readCall: (call) => {
      const read = checkedCall(context.readCall(call), call, turn);
      if (read.ok || read.isAnswer !== true || !isLast(turn)) return read;
      unmet = read.error;
      return endOf(call, turn.finish!);
    },
  });
  return unmet === null ? drafts : [...drafts, unmetWarning(unmet)];
}

/** A call of finish with an answer that is valid by the form; any other call as it is. */
function checkedCall(
  read: UnderstoodCall | BadCall,
  call: MessageToolCall,
  { finish, form }: AnswerTurn,
): UnderstoodCall | BadCall {
  const name = read.ok ? read.tool.name : (read.toolName ?? call.name);
  if (finish === null || name !== finish.name) return read;
  if (!read.ok) return { ...read, isAnswer: true };
  const answer = answerIn(read.answer ?? {}, form);
  const faults = form.faultsOf(answer);
  if (faults.length === 0) return { ...read, answer: answer as JsonObject };
  const error = `The arguments of ${finish.name} do not fit its schema: ${faults.join("; ")}`;
  return { ok: false, error, toolName: finish.name, isAnswer: true };
}

/** A call whose answer is given up: its message ends the run. */
function endOf(call: MessageToolCall, tool: ToolListing): UnderstoodCall {
  const parsed = parseArguments(call.arguments);
  const text = parsed.ok ? parsed.values["message"] : undefined;
  const message = typeof text === "string" && text.trim() !== "" ? text : call.arguments;
  return {
    ok: true,
    tool,
    action: { kind: "FinishAction", message },
    predictedRisk: null,
    summary: "Ends the work without a valid structured answer",
  };
}

function receiveText(response: ModelResponse, context: ReceiveContext, turn: AnswerTurn): EventDraft[] {
  const drafts = receiveResponse(response, context);
  const [message, ...nudges] = drafts;
  // Silent or cut off: the model goes on anyway.
  if (nudges.length > 0) return drafts;
  const answer = parseAnswer(wholeText(response, turn.view));
  const faults = turn.form.faultsOf(answer);
  if (faults.length === 0)
    return [{ ...message!, meta: { ...message!.meta, structuredOutput: answer as JsonObject } }];
  if (isLast(turn)) return [...drafts, unmetWarning(faults.join("; "))];
  return [...drafts, environmentMessage(hint(faults, turn), { isRefusedAnswer: true })];
}

function isLast({ refusals }: AnswerTurn): boolean {
  return refusals >= maxRefusals - 1;
}

function hint(faults: readonly string[], { finish, form }: AnswerTurn): string {
  const how =
    finish === null
      ? `Give it again as one JSON object that is valid by this JSON Schema, and nothing else: ${JSON.stringify(form.schema)}`
      : `End the work with a call of ${finish.name}, with the answer in its arguments.`;
  return `Your last answer is not in the form that the user needs: ${faults.join("; ")} ${how}`;
}

function unmetWarning(problem: string): EventDraft {
  return warning({
    code: "response_schema_unmet",
    detail: `The agent's answer is not valid by the response schema, also after it was asked again: ${problem}`,
  });
}

/** With the parts before it, where the answer was cut off. */
function wholeText({ message }: ModelResponse, view: readonly ViewEvent[]): string {
  let text = message.content.map((part) => part.text).join("");
  const events = view.map(({ event }) => event);
  for (let at = events.length - 1; at > 0 && isGoOn(events[at]!); at -= 2) {
    const before = events[at - 1]!;
    if (before.kind !== "MessageEvent") break;
    text =
      (before.llm_message.content ?? []).map((part) => ("text" in part ? part.text : "")).join("") + text;
  }
  return text;
}

function parseAnswer(text: string): unknown {
  try {
    const value = JSON.parse(withoutFence(text.trim())) as unknown;
    return isObject(value) ? value : null;
  } catch {
    // Words for a person; the check says that they are no JSON object.
    return null;
  }
}
