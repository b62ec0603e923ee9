import { parseForeignJson } from "../lib/parse-foreign-json.ts";
import type { Event, ImageContent, MessageToolCall, TextContent } from "@convoke/protocol";
import type { EventMeta } from "../events/event-draft.ts";
import type { AssistantMessage, ModelMessage } from "../models/model.ts";
import { condensedView, idInLog, type ViewEvent } from "./history-view.ts";
import { observationContent, plain, text } from "./observation-content.ts";
import { plainText } from "./plain-text.ts";

export { viewKinds, type ViewEvent } from "./history-view.ts";

/** A message with the ids of the events that it was made of. */
export type ShownMessage = { readonly message: ModelMessage; readonly eventIds: readonly string[] };

type Placed = { readonly at: number; readonly messages: readonly ShownMessage[] };
type ActionEvent = Extract<Event, { kind: "ActionEvent" }>;
/** `meta` is that of the first action, which carries what belongs to the whole answer. */
type Turn = { readonly actions: ActionEvent[]; readonly at: number; readonly meta: EventMeta };

/**
 * The only translator from the log to what a model reads; a pure function of the log. An assistant turn is rebuilt by its
 * response id and stands right behind what its request had seen, its results follow in call order, and a message that
 * arrived meanwhile comes after them. So the text only grows at its end between condensations, and prompt caches hold.
 */
export function buildHistory(log: readonly ViewEvent[]): ModelMessage[] {
  return renderView(condensedView(log));
}

/** The messages of a view from which condensations have taken what they forget. */
export function renderView(view: readonly ViewEvent[]): ModelMessage[] {
  return showView(view).map(({ message }) => message);
}

/** The same, and what each message was made of. */
export function showView(view: readonly ViewEvent[]): ShownMessage[] {
  const answers = collectAnswers(view);
  const placed: Placed[] = [];
  const turns = new Map<string, Turn>();
  for (const { seq, event, meta } of view) {
    const shown = (message: ModelMessage): ShownMessage => ({ message, eventIds: [event.id!] });
    switch (event.kind) {
      case "SystemPromptEvent":
        // A message may have come before the tools that the prompt tells of; every request begins with the prompt all the same.
        placed.push({ at: 0, messages: [shown(systemMessage(event))] });
        break;
      case "MessageEvent":
        placed.push(
          event.source === "agent"
            ? { at: afterSeen(seq, meta), messages: spokenMessages(event, meta).map(shown) }
            : { at: seq, messages: [shown(userMessage(event))] },
        );
        break;
      case "CondensationSummaryEvent":
        placed.push({
          at: seq,
          messages: [
            {
              message: { role: "user", content: [text(framedSummary(event.summary))] },
              eventIds: [idInLog(event)],
            },
          ],
        });
        break;
      case "ActionEvent": {
        const turn = turns.get(event.llm_response_id);
        if (turn === undefined) {
          turns.set(event.llm_response_id, { actions: [event], at: afterSeen(seq, meta), meta });
        } else turn.actions.push(event);
        break;
      }
      default:
    }
  }
  for (const turn of turns.values()) placed.push({ at: turn.at, messages: turnMessages(turn, answers) });
  return placed.toSorted((left, right) => left.at - right.at).flatMap((item) => item.messages);
}

/** Right behind what the request had seen; before anything that arrived later. */
function afterSeen(seq: number, meta: EventMeta): number {
  return meta.sawSeq === undefined ? seq : meta.sawSeq + 0.5;
}

type Answer = { readonly content: (TextContent | ImageContent)[]; readonly eventIds: readonly string[] };

/** Results by action id; the first one wins. Scaffold errors without an action (a call that never was one) go by call id. */
function collectAnswers(view: readonly ViewEvent[]): Map<string, Answer> {
  const answers = new Map<string, Answer>();
  let responseId = "";
  for (const { event, meta } of view) {
    const add = (key: string, content: Answer["content"]): void => {
      if (!answers.has(key)) answers.set(key, { content, eventIds: [event.id!] });
    };
    if (event.kind === "ActionEvent") responseId = event.llm_response_id;
    if (event.kind === "ObservationEvent") add(event.action_id, observationContent(event.observation));
    if (event.kind === "AgentErrorEvent") {
      add(meta.answers ?? callKey(responseId, event.tool_call_id), [text(plainText(event.error))]);
    }
    if (event.kind === "UserRejectObservation") {
      const reason = event.rejection_reason ?? "User rejected the action";
      add(event.action_id, [text(`This call was rejected and did not run. Reason: ${plainText(reason)}`)]);
    }
  }
  return answers;
}

function callKey(responseId: string, toolCallId: string): string {
  return `${responseId} ${toolCallId}`;
}

function turnMessages({ actions, meta }: Turn, answers: ReadonlyMap<string, Answer>): ShownMessage[] {
  const [first] = actions;
  const message: ModelMessage = {
    role: "assistant",
    content: first!.thought,
    toolCalls: actions.map((action) => replayableCall(action.tool_call)),
    reasoningContent: first!.reasoning_content ?? null,
    thinkingBlocks: first!.thinking_blocks ?? [],
    reasoningItem: first!.responses_reasoning_item ?? null,
    ...replayed(meta),
  };
  return [
    { message, eventIds: actions.map(({ id }) => id!) },
    ...actions.map(({ id, llm_response_id: responseId, tool_call_id: toolCallId, tool_name: name }) => {
      const { content, eventIds } =
        answers.get(id!) ?? answers.get(callKey(responseId, toolCallId)) ?? noAnswer;
      return { message: { role: "tool", toolCallId, name, content }, eventIds } satisfies ShownMessage;
    }),
  ];
}

const noAnswer: Answer = { content: [text("(no result yet)")], eventIds: [] };

/** Arguments go back as they came, byte for byte; only text that is no JSON, which providers refuse, is wrapped (P12). */
function replayableCall(call: MessageToolCall): MessageToolCall {
  try {
    const value = parseForeignJson(call.arguments);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return call;
  } catch {
    // Wrapped below: the log keeps the text as received, the model sees that it was malformed.
  }
  return { ...call, arguments: JSON.stringify({ malformed_arguments: call.arguments.slice(0, 2000) }) };
}

/** Without these words the model would take the notes for the person's. */
function framedSummary(notes: string): string {
  const lead =
    "The earlier part of this conversation was taken away to make room. These notes stand for it; they may also tell of " +
    "what happened after messages that you still see.";
  return `<conversation_notes>\n${lead}\n\n${notes.trim()}\n</conversation_notes>`;
}

function systemMessage(event: Extract<Event, { kind: "SystemPromptEvent" }>): ModelMessage {
  const dynamic = event.dynamic_context;
  return { role: "system", content: dynamic ? [event.system_prompt, dynamic] : [event.system_prompt] };
}

function userMessage(event: Extract<Event, { kind: "MessageEvent" }>): ModelMessage {
  return {
    role: "user",
    content: [...(event.llm_message.content ?? []), ...(event.extended_content ?? [])].map(plain),
  };
}

function replayed({ replay }: EventMeta): Pick<AssistantMessage, "replay"> {
  return replay === undefined ? {} : { replay };
}

/** A note follows an answer that was cut off: providers refuse or continue a request that ends with an assistant message. */
function spokenMessages(
  event: Extract<Event, { kind: "MessageEvent" }>,
  meta: EventMeta,
): readonly ModelMessage[] {
  const spoken = spokenMessage(event, meta);
  return meta.isInterrupted === true ? [spoken, { role: "user", content: [text(brokenOff)] }] : [spoken];
}

const brokenOff = "(The answer above was stopped before its end.)";

function spokenMessage(event: Extract<Event, { kind: "MessageEvent" }>, meta: EventMeta): ModelMessage {
  const message = event.llm_message;
  return {
    role: "assistant",
    content: (message.content ?? []).filter((part): part is TextContent => "text" in part),
    toolCalls: [],
    reasoningContent: message.reasoning_content ?? null,
    thinkingBlocks: message.thinking_blocks ?? [],
    reasoningItem: message.responses_reasoning_item ?? null,
    ...replayed(meta),
  };
}
