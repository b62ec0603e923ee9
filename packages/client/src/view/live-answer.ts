import type { Event } from "@convoke/protocol";

/** A part of an answer: the text, the reasoning, or the arguments of one call. */
export type LiveItem = {
  readonly type: "text" | "reasoning" | "tool_call";
  readonly index: number;
  /** The tool of a call. */
  readonly name: string | null;
  readonly text: string;
};

/** An answer on its way; nothing of it is stored yet. */
export type LiveAnswer = {
  /** Null where the deltas do not name their attempt. */
  readonly id: string | null;
  readonly items: readonly LiveItem[];
  readonly lastSeq: number;
  /** Pieces are missing: dropped on the way, or from before somebody listened. */
  readonly hasGap: boolean;
  /** `done`: its events follow; `cut`: what there was of it follows as a message. */
  readonly outcome: "done" | "cut" | null;
  readonly llmResponseId: string | null;
};

/** The answers in progress, and what shows which of them are stored. */
export type LiveAnswers = {
  /** As far as they came; oldest first. */
  readonly answers: readonly LiveAnswer[];
  /** The response whose events came last. */
  readonly lastResponseId: string | null;
};

export const noAnswers: LiveAnswers = { answers: [], lastResponseId: null };

type Frame = Readonly<Record<string, unknown>>;

/**
 * The answers after one more stored event: an answer ends when its own events are there, and all of them end with the run. The same
 * object when nothing changes.
 */
export function settleAnswers<Live extends LiveAnswers>(live: Live, event: Event): Live {
  switch (event.kind) {
    case "ActionEvent":
      return answered(live, event.llm_response_id);
    case "MessageEvent":
      return event.source === "agent" ? answered(live, event.llm_response_id) : live;
    case "ConversationStateUpdateEvent":
      return event.key === "execution_status" && event.value !== "running" ? withoutAnswers(live) : live;
    default:
      return live;
  }
}

/** What an interrupt left of an answer names no response. */
function answered<Live extends LiveAnswers>(live: Live, responseId: string | null | undefined): Live {
  if (!responseId) return withoutAnswers(live);
  if (responseId === live.lastResponseId) return live;
  return { ...live, answers: dropAnswered(live.answers, responseId), lastResponseId: responseId };
}

function withoutAnswers<Live extends LiveAnswers>(live: Live): Live {
  return live.answers.length === 0 ? live : { ...live, answers: [] };
}

/** The answers after one more frame; the same list when it is about none. */
export function foldAnswer(answers: readonly LiveAnswer[], frame: Frame): readonly LiveAnswer[] {
  switch (frame["kind"]) {
    case "AnswerDelta": {
      const item = (frame["item"] ?? {}) as Partial<LiveItem>;
      const { type = "text", index = 0, name = null } = item;
      const chunk = { type, index, name, text: String(frame["text"]) };
      return change(answers, frame, (answer) => ({ ...answer, items: withText(answer.items, chunk) }));
    }
    case "AnswerEnd":
      return frame["outcome"] === "void"
        ? answers.filter(({ id }) => id !== frame["answer_id"])
        : change(answers, frame, (answer) => ({
            ...answer,
            outcome: frame["outcome"] as "done" | "cut",
            llmResponseId: frame["llm_response_id"] as string | null,
          }));
    case "StreamingDeltaEvent":
      return withPlainDelta(answers, frame);
    default:
      return answers;
  }
}

/** Its events are there: they take the place of what was shown, and of what came before it. */
function dropAnswered(answers: readonly LiveAnswer[], llmResponseId: string): readonly LiveAnswer[] {
  if (answers.length === 0) return answers;
  const index = answers.findIndex((answer) => answer.llmResponseId === llmResponseId);
  // Its end was dropped on the way: it is the oldest.
  return answers.slice(Math.max(index, 0) + 1);
}

function change(
  answers: readonly LiveAnswer[],
  frame: Frame,
  to: (answer: LiveAnswer) => LiveAnswer,
): readonly LiveAnswer[] {
  const id = frame["answer_id"] as string;
  const seq = frame["seq"] as number;
  const known = answers.find((answer) => answer.id === id) ?? newAnswer(id);
  const next = to({ ...known, lastSeq: seq, hasGap: known.hasGap || seq !== known.lastSeq + 1 });
  return known.lastSeq === 0
    ? [...answers, next]
    : answers.map((answer) => (answer === known ? next : answer));
}

function withPlainDelta(answers: readonly LiveAnswer[], frame: Frame): readonly LiveAnswer[] {
  const { content, reasoning_content: reasoning } = frame as {
    content?: string | null;
    reasoning_content?: string | null;
  };
  const known = answers.find(({ id }) => id === null) ?? newAnswer(null);
  let { items } = known;
  if (reasoning) items = withText(items, { type: "reasoning", index: 0, name: null, text: reasoning });
  if (content) items = withText(items, { type: "text", index: 0, name: null, text: content });
  return [...answers.filter((answer) => answer !== known), { ...known, items }];
}

function newAnswer(id: string | null): LiveAnswer {
  return { id, items: [], lastSeq: 0, hasGap: false, outcome: null, llmResponseId: null };
}

function withText(items: readonly LiveItem[], delta: LiveItem): readonly LiveItem[] {
  const isSame = (item: LiveItem): boolean => item.type === delta.type && item.index === delta.index;
  if (!items.some(isSame)) return [...items, delta];
  return items.map((item) => (isSame(item) ? { ...item, text: item.text + delta.text } : item));
}
