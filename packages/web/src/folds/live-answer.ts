import { numberAt, looseAt, textAt, type Loose } from "../lib/loose.ts";

/** A call that the model is still writing. */
export type LiveCall = { readonly index: number; readonly name: string; readonly argumentsText: string };

/** An answer on its way; nothing of it is stored yet. */
export type LiveAnswer = {
  readonly answerId: string;
  readonly seq: number;
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly LiveCall[];
  /** Pieces are missing: they came before somebody listened, or were dropped. */
  readonly hasGap: boolean;
  /** Set once it is complete: its events, with this id, follow and take its place. */
  readonly responseId: string | null;
};

const begun: Omit<LiveAnswer, "answerId"> = {
  seq: 0,
  text: "",
  reasoning: "",
  calls: [],
  hasGap: false,
  responseId: null,
};

/** The answer after one more frame of the socket; null when there is nothing on its way. */
export function withFrame(answer: LiveAnswer | null, frame: Loose): LiveAnswer | null {
  switch (frame["kind"]) {
    case "AnswerDelta":
      return withPiece(continued(answer, frame), looseAt(frame, "item"), textAt(frame, "text"));
    case "AnswerEnd": {
      if (frame["outcome"] !== "done") return null;
      const responseId = textAt(frame, "llm_response_id");
      return answer === null || answer.answerId !== frame["answer_id"] ? answer : { ...answer, responseId };
    }
    case "StreamingDeltaEvent": {
      const known = answer ?? { ...begun, answerId: "" };
      return {
        ...known,
        text: known.text + textAt(frame, "content"),
        reasoning: known.reasoning + textAt(frame, "reasoning_content"),
      };
    }
    default:
      return answer;
  }
}

/** The answer once an event is stored: what was streamed is over when the events of an answer are there, or the run has stopped. */
export function withStored(answer: LiveAnswer | null, event: Loose): LiveAnswer | null {
  if (answer === null) return null;
  const isOfAgent =
    event["kind"] === "ActionEvent" || (event["kind"] === "MessageEvent" && event["source"] === "agent");
  if (isOfAgent) return null;
  const isStatus = event["kind"] === "ConversationStateUpdateEvent" && event["key"] === "execution_status";
  return isStatus && event["value"] !== "running" ? null : answer;
}

function continued(answer: LiveAnswer | null, frame: Loose): LiveAnswer {
  const answerId = textAt(frame, "answer_id");
  const seq = numberAt(frame, "seq") ?? 0;
  const known = answer?.answerId === answerId ? answer : { ...begun, answerId };
  return { ...known, seq, hasGap: known.hasGap || seq !== known.seq + 1 };
}

function withPiece(answer: LiveAnswer, item: Loose | null, text: string): LiveAnswer {
  if (item?.["type"] === "reasoning") return { ...answer, reasoning: answer.reasoning + text };
  if (item?.["type"] !== "tool_call") return { ...answer, text: answer.text + text };
  const index = numberAt(item, "index") ?? 0;
  const known = answer.calls.find((call) => call.index === index);
  const call = {
    index,
    name: textAt(item, "name") || (known?.name ?? ""),
    argumentsText: (known?.argumentsText ?? "") + text,
  };
  return { ...answer, calls: [...answer.calls.filter((other) => other.index !== index), call] };
}
