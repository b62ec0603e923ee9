import type { SessionUpdate, ToolCallUpdate } from "@agentclientprotocol/sdk";
import { emptyView, foldItem, spendOf, type ConversationView, type FollowItem } from "@convoke/client";
import type { ActionEvent, Event } from "@convoke/protocol";
import { asFields, listAt, textAt, textOf } from "./fields.ts";
import { isToolCall, toBlocks, toFailure, toPlan, toProgress, toResult, toToolCall } from "./mapping.ts";

/** What was streamed of one answer. */
type Streamed = { text: string; thought: string; responseId: string | null };

/** What a session's client is shown of a log, item by item. Remembers what it needs to show nothing twice: no events. */
export class SessionUpdates {
  readonly #cwd: string;
  /** By `answer_id`, as long as their events have not come. */
  readonly #streamed = new Map<string, Streamed>();
  /** Calls without an end, by the id of their event, with the id that the model gave them. */
  readonly #open = new Map<string, { readonly callId: string; isRunning: boolean }>();
  #view: ConversationView = emptyView;
  #lastResponse: string | null = null;

  constructor(cwd: string) {
    this.#cwd = cwd;
  }

  get view(): ConversationView {
    return this.#view;
  }

  /** `ownMessageId`: a message that the client has sent itself, and shows already. */
  of(item: FollowItem, ownMessageId: string | null = null): SessionUpdate[] {
    const before = this.#view;
    this.#view = foldItem(before, item);
    const isShown =
      item.type === "event" && item.event.kind === "MessageEvent" && item.event.id === ownMessageId;
    if (isShown) return [];
    const own = item.type === "signal" ? this.#ofSignal(item.frame) : this.#ofEvent(item.event);
    return [...own, ...this.#begun(), ...this.#ofView(before)];
  }

  /** Every call that has no end fails: nothing may stay open behind the end of a turn. */
  closeCalls(reason: string): SessionUpdate[] {
    return [...this.#open.keys()].map((id) => this.#failed(id, reason));
  }

  #ofSignal(frame: Readonly<Record<string, unknown>>): SessionUpdate[] {
    switch (frame["kind"]) {
      case "AnswerDelta":
        return this.#ofDelta(frame);
      case "AnswerEnd": {
        const id = textAt(frame, "answer_id");
        const streamed = this.#streamed.get(id);
        if (frame["outcome"] === "void") this.#streamed.delete(id);
        else if (streamed !== undefined) streamed.responseId = textAt(frame, "llm_response_id") || null;
        return [];
      }
      case "ToolProgress":
        return this.#open.has(textAt(frame, "action_id"))
          ? [changed(toProgress(textAt(frame, "action_id"), textAt(frame, "text")))]
          : [];
      default:
        return [];
    }
  }

  #ofDelta(frame: Readonly<Record<string, unknown>>): SessionUpdate[] {
    const { answer_id: id, text, item } = frame as { answer_id: string; text: string; item: unknown };
    const type = asFields(item)["type"];
    if (type === "tool_call" || text === "") return [];
    const streamed = this.#streamed.get(id) ?? { text: "", thought: "", responseId: null };
    this.#streamed.set(id, streamed);
    if (type === "reasoning") streamed.thought += text;
    else streamed.text += text;
    return [type === "reasoning" ? thought(text, id) : message(text, id)];
  }

  /** Calls that need no answer of a person are at work. What says so may come before or behind the call itself. */
  #begun(): SessionUpdate[] {
    return this.#view.openActions.flatMap(({ id, isAccepted }) => {
      const call = this.#open.get(id);
      if (call === undefined || call.isRunning || !isAccepted) return [];
      call.isRunning = true;
      return [changed({ toolCallId: id, status: "in_progress" })];
    });
  }

  #ofEvent(event: Event): SessionUpdate[] {
    switch (event.kind) {
      case "MessageEvent": {
        const { content = [], reasoning_content: reasoning } = event.llm_message;
        if (event.source === "user")
          return content.flatMap(toBlocks).map((block) => ({
            sessionUpdate: "user_message_chunk",
            messageId: event.id!,
            content: block,
          }));
        if (event.source !== "agent") return [];
        return this.#rest(event.id!, event.llm_response_id ?? null, textOf(content), reasoning ?? "");
      }
      case "ActionEvent":
        return this.#ofAction(event);
      case "ObservationEvent": {
        const observation = asFields(event.observation);
        if (observation["kind"] === "TaskTrackerObservation")
          return [{ sessionUpdate: "plan", entries: toPlan(listAt(observation, "task_list")) }];
        return this.#open.delete(event.action_id) ? [changed(toResult(event, this.#cwd))] : [];
      }
      case "AgentErrorEvent": {
        const id = [...this.#open].findLast(([, { callId }]) => callId === event.tool_call_id)?.[0];
        return id === undefined ? [] : [this.#failed(id, event.error)];
      }
      case "UserRejectObservation": {
        const { action_id: id, rejection_reason: reason = "Rejected." } = event;
        return this.#open.has(id) ? [this.#failed(id, reason)] : [];
      }
      case "Condensation":
        return event.summary
          ? [
              {
                sessionUpdate: "compaction_update",
                compactionId: event.id!,
                status: "completed",
                summary: [{ type: "text", text: event.summary }],
              },
            ]
          : [];
      default:
        return [];
    }
  }

  #ofAction(event: ActionEvent): SessionUpdate[] {
    const { id, llm_response_id: responseId, thought: thoughts, reasoning_content: reasoning } = event;
    const words = this.#rest(id!, responseId, textOf(thoughts), reasoning ?? "");
    const action = asFields(event.action);
    if (isToolCall(action)) {
      this.#open.set(id!, { callId: event.tool_call_id, isRunning: false });
      return [...words, { sessionUpdate: "tool_call", ...toToolCall(event, this.#cwd) }];
    }
    if (action["kind"] === "FinishAction") return [...words, message(textAt(action, "message"), id!)];
    if (action["kind"] === "ThinkAction") return [...words, thought(textAt(action, "thought"), id!)];
    return words;
  }

  /** What was not streamed of an answer. Its first event has all of its words, the others have none. */
  #rest(id: string, responseId: string | null, text: string, reasoning: string): SessionUpdate[] {
    const isFirst = responseId === null || responseId !== this.#lastResponse;
    this.#lastResponse = responseId;
    if (!isFirst) return [];
    // What an interrupt left of an answer names no response; an answer whose end was dropped is the oldest.
    const [answerId, streamed] = [...this.#streamed].find(([, { responseId: one }]) => one === responseId) ??
      this.#streamed.entries().next().value ?? [id, { text: "", thought: "" }];
    this.#streamed.delete(answerId);
    return [
      ...chunks(behind(reasoning, streamed.thought), (rest) => thought(rest, answerId)),
      ...chunks(behind(text, streamed.text), (rest) => message(rest, answerId)),
    ];
  }

  #ofView(before: ConversationView): SessionUpdate[] {
    const { title, stats } = this.#view;
    const updates: SessionUpdate[] = [];
    if (title !== before.title && title !== null)
      updates.push({ sessionUpdate: "session_info_update", title });
    const { cost, contextTokens, contextWindow } = spendOf(this.#view);
    if (stats !== before.stats && contextWindow > 0)
      updates.push({
        sessionUpdate: "usage_update",
        used: contextTokens,
        size: contextWindow,
        ...(cost > 0 ? { cost: { amount: cost, currency: "USD" } } : {}),
      });
    return updates;
  }

  #failed(id: string, reason: string): SessionUpdate {
    this.#open.delete(id);
    return changed(toFailure(id, reason));
  }
}

type Chunk = (text: string, id: string) => SessionUpdate;
export const message: Chunk = (text, id) => ({
  sessionUpdate: "agent_message_chunk",
  messageId: id,
  content: { type: "text", text },
});
const thought: Chunk = (text, id) => ({
  sessionUpdate: "agent_thought_chunk",
  messageId: id,
  content: { type: "text", text },
});

function changed(update: ToolCallUpdate): SessionUpdate {
  return { sessionUpdate: "tool_call_update", ...update };
}

function chunks(rest: string, toUpdate: (rest: string) => SessionUpdate): SessionUpdate[] {
  return rest === "" ? [] : [toUpdate(rest)];
}

/** Where pieces were dropped on the way, the whole text comes again, below what there was of it. */
function behind(whole: string, streamed: string): string {
  if (whole.startsWith(streamed)) return whole.slice(streamed.length);
  return whole.trim() === streamed.trim() || whole === "" ? "" : `\n\n${whole}`;
}
