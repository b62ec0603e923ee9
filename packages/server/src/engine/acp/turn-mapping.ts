import { randomUUID } from "node:crypto";
import type { ContentChunk, PlanEntry, SessionUpdate, ToolCallUpdate } from "@agentclientprotocol/sdk";
import type { EventBody, EventDraft } from "../../events/event-draft.ts";
import { withoutUndefined } from "../../lib/without-undefined.ts";
import { callEvent, type CallFacts } from "./acp-events.ts";

export type Delta = { readonly type: "text" | "reasoning"; readonly text: string };

/** What an update leads to. A message that it ends comes first in `drafts`. */
export type Mapped = {
  readonly drafts: readonly EventDraft[];
  readonly delta: Delta | null;
  /** The id of the message that is over with this update. */
  readonly ended: string | null;
  readonly cost: Cost | null;
};

/** As the agent counts them for its session; `usd` null where it does not say. */
export type Cost = { readonly used: number; readonly size: number; readonly usd: number | null };

type Known = CallFacts & { readonly isPublished: boolean };

const nothing: Mapped = { drafts: [], delta: null, ended: null, cost: null };
const endStatuses = new Set(["completed", "failed"]);

/** The updates of one prompt as events: holds the message that is being said and the calls that are open. Does no I/O. */
export class TurnMapping {
  readonly #calls = new Map<string, Known>();
  #text = "";
  #reasoning = "";
  #answerId = newAnswerId();
  #messageId: string | null = null;

  /** The message that is being said. */
  get text(): string {
    return this.#text;
  }

  map(update: SessionUpdate): Mapped {
    switch (update.sessionUpdate) {
      case "agent_message_chunk":
        return this.#chunk("text", update);
      case "agent_thought_chunk":
        return this.#chunk("reasoning", update);
      case "tool_call":
      case "tool_call_update":
        return this.#call(update);
      case "plan":
        return this.#flushed(planEvents(update.entries));
      case "usage_update": {
        const { cost, size, used } = update;
        return { ...nothing, cost: { used, size, usd: cost?.currency === "USD" ? cost.amount : null } };
      }
      default:
        return nothing;
    }
  }

  /** The call that a permission is asked for, with everything that was told about it before. */
  merge(call: ToolCallUpdate): ToolCallUpdate {
    const known = this.#calls.get(call.toolCallId);
    if (known === undefined) return call;
    return {
      ...call,
      title: call.title ?? known.title,
      kind: call.kind ?? known.kind,
      rawInput: call.rawInput ?? known.rawInput,
      content: call.content ?? known.content ?? null,
    } as ToolCallUpdate;
  }

  /** The events that have to stand before another one: the message so far, and the beginning of a call. */
  before(call: ToolCallUpdate): readonly EventDraft[] {
    return [...this.flush(), ...this.#call({ ...call, status: call.status ?? "pending" }, true).drafts];
  }

  /** The message so far, which is over; nothing where none was begun. */
  flush(meta: EventDraft["meta"] = {}): EventDraft[] {
    const [text, reasoning] = [this.#text, this.#reasoning];
    const id = this.#answerId;
    this.drop();
    if (text.trim() === "" && reasoning.trim() === "") return [];
    return [{ body: messageOf(text, reasoning, id), meta }];
  }

  /** Forgets the message so far: somebody else has stored it. */
  drop(): void {
    this.#text = "";
    this.#reasoning = "";
    this.#answerId = newAnswerId();
    this.#messageId = null;
  }

  #chunk(type: Delta["type"], { content, messageId = null }: Chunk): Mapped {
    const text = content.type === "text" ? content.text : `[${content.type}]`;
    // A thought after words begins another message, and so does another id.
    const isOther = messageId !== null && this.#messageId !== null && messageId !== this.#messageId;
    const isNew = (isOther && type === "text") || (type === "reasoning" && this.#text !== "");
    const ended = isNew ? this.#answerId : null;
    const drafts = isNew ? this.flush() : [];
    if (type === "text") {
      this.#text += text;
      this.#messageId = messageId;
    } else this.#reasoning += text;
    return { ...nothing, drafts, ended: drafts.length > 0 ? ended : null, delta: { type, text } };
  }

  #call(update: ToolCallUpdate, mustPublish = false): Mapped {
    const { toolCallId: id } = update;
    const before = this.#calls.get(id);
    const call = {
      id,
      title: update.title ?? before?.title ?? update.kind ?? id,
      kind: update.kind ?? before?.kind ?? null,
      status: update.status ?? before?.status ?? "pending",
      rawInput: hasInput(update.rawInput) ? update.rawInput : before?.rawInput,
      rawOutput: update.rawOutput ?? before?.rawOutput,
      content: update.content ?? before?.content,
    } as CallFacts;
    const isOver = endStatuses.has(call.status);
    const isPublished = before?.isPublished === true;
    // A call is told once it has its input, and once it is over.
    const isNews =
      isOver || (!isPublished && (mustPublish || call.status === "in_progress" || hasInput(call.rawInput)));
    if (isOver) this.#calls.delete(id);
    else this.#calls.set(id, { ...call, isPublished: isPublished || isNews });
    if (!isNews) return nothing;
    // Of each call there are two events, also of one that is told when it is over.
    const begun =
      isOver && !isPublished ? [callEvent({ ...call, status: "in_progress", rawOutput: undefined })] : [];
    return this.#flushed([...begun, callEvent(call)]);
  }

  #flushed(after: readonly EventDraft[]): Mapped {
    const id = this.#answerId;
    const before = this.flush();
    return { ...nothing, drafts: [...before, ...after], ended: before.length > 0 ? id : null };
  }
}

type Chunk = Pick<ContentChunk, "content" | "messageId">;

function newAnswerId(): string {
  return `acp-${randomUUID()}`;
}

function hasInput(input: unknown): boolean {
  if (input === undefined || input === null) return false;
  return typeof input !== "object" || Object.keys(input).length > 0;
}

function messageOf(text: string, reasoning: string, id: string): EventBody {
  return {
    kind: "MessageEvent",
    source: "agent",
    llm_message: withoutUndefined({
      role: "assistant" as const,
      content: text === "" ? [] : [{ type: "text" as const, text, cache_prompt: false }],
      thinking_blocks: [],
      reasoning_content: reasoning === "" ? undefined : reasoning,
    }),
    llm_response_id: id,
    activated_skills: [],
    extended_content: [],
  };
}

const planStatuses = { pending: "todo", in_progress: "in_progress", completed: "done" } as const;

/** A plan is a call of `task_tracker` that is answered at once, as plans of our agents are. */
function planEvents(entries: readonly PlanEntry[]): EventDraft[] {
  const tasks = entries.map(({ content, status }) => ({
    title: content,
    notes: "",
    status: planStatuses[status],
  }));
  const callId = `plan-${randomUUID()}`;
  const call = { tool_name: "task_tracker", tool_call_id: callId };
  const arguments_ = JSON.stringify({ command: "plan", task_list: tasks });
  const shown = tasks.map(({ status, title }) => `- [${status}] ${title}`).join("\n");
  return [
    {
      body: {
        kind: "ActionEvent",
        source: "agent",
        thought: [],
        thinking_blocks: [],
        action: { kind: "TaskTrackerAction", command: "plan", task_list: tasks },
        ...call,
        tool_call: { id: callId, name: "task_tracker", arguments: arguments_, origin: "completion" },
        llm_response_id: callId,
        security_risk: "LOW",
        summary: "The plan of the agent",
      },
    },
    {
      body: (actionId) => ({
        kind: "ObservationEvent",
        source: "environment",
        ...call,
        action_id: actionId,
        observation: {
          kind: "TaskTrackerObservation",
          command: "plan",
          task_list: tasks,
          content: [{ type: "text", text: shown, cache_prompt: false }],
          is_error: false,
        },
      }),
      meta: { isFinal: true },
    },
  ];
}
