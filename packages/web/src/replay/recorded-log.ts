import type { Landmarks, PastState } from "@convoke/protocol";
import { ApiError } from "@convoke/client";
import { asLoose, textAt, type Loose } from "../lib/loose.ts";
import type { LogPage } from "../log/log-page.ts";
import type { LogSource } from "../log/open-log.ts";

const pageSize = 200;
/** Kinds of events that answer an action, which names it in `action_id`. */
const answers: ReadonlySet<string> = new Set([
  "ObservationEvent",
  "UserRejectObservation",
  "AgentErrorEvent",
]);

/** An event of the log, and how things stood there in the form in which a server says it. */
export type RecordedMoment = Pick<PastState, "event_id" | "timestamp" | "position" | "length"> & {
  readonly past: Loose;
};

/**
 * A whole log in memory, and how its conversation stood at each event: a fold of the events before it. `info` is the conversation
 * as it was when the log was taken; of it counts what no event says.
 */
export class RecordedLog {
  readonly id: string;
  readonly #events: readonly Loose[];
  readonly #info: Loose;
  readonly #places = new Map<string, number>();

  constructor(info: Loose, events: readonly Loose[]) {
    this.id = textAt(info, "id");
    this.#info = info;
    this.#events = events;
    for (const [index, event] of events.entries()) this.#places.set(textAt(event, "id"), index);
  }

  get length(): number {
    return this.#events.length;
  }

  /** Gives its pages as a server does. It has nothing of other conversations, and nothing is ever added to it. */
  readonly source: LogSource = {
    conversation: async (id) => this.#owned(id, this.#info),
    older: async (id, pageId) => {
      const end = pageId === "" ? this.length : this.#placeOf(pageId) + 1;
      return this.#owned(id, this.#older(end));
    },
    newer: async (id, pageId) => this.#owned(id, this.#newer(this.#placeOf(pageId))),
    follow: async function* () {},
  };

  /** Where something happened; as a server says it, but for its bound. */
  get landmarks(): Landmarks {
    const places = (...kinds: readonly string[]): number[] =>
      this.#events.flatMap((event, index) => (kinds.includes(textAt(event, "kind")) ? [index + 1] : []));
    const isAsked = (place: number): boolean => textAt(this.#events[place - 1], "source") === "user";
    return {
      length: this.length,
      turns: places("MessageEvent").filter(isAsked),
      errors: places("ConversationErrorEvent", "AgentErrorEvent"),
      rejected: places("UserRejectObservation"),
      condensations: places("Condensation"),
    };
  }

  /** How things stood at a position, from 1 to the length. The positions are those of the server. */
  at(position: number): RecordedMoment {
    const told = this.#events.slice(0, position);
    const last = told.at(-1);
    const conversation: Record<string, unknown> = { ...this.#info, ...unsaid };
    const open = new Map<string, Loose>();
    for (const event of told) {
      const kind = textAt(event, "kind");
      if (kind === "ActionEvent") open.set(textAt(event, "id"), event);
      else if (answers.has(kind)) open.delete(textAt(event, "action_id"));
      else if (kind === "ConversationStateUpdateEvent") takeUpdate(conversation, event);
    }
    const isWaiting = conversation["execution_status"] === "waiting_for_confirmation";
    const actions = [...open.values()].map((action) => ({
      action_id: textAt(action, "id"),
      tool_name: textAt(action, "tool_name"),
      is_waiting: isWaiting,
    }));
    return {
      event_id: textAt(last, "id") || null,
      timestamp: textAt(last, "timestamp") || null,
      position: told.length,
      length: this.length,
      past: { conversation, open_actions: actions },
    };
  }

  #older(end: number): LogPage {
    const start = Math.max(0, end - pageSize);
    return { events: this.#events.slice(start, end), nextPageId: this.#idAt(start - 1) };
  }

  #newer(start: number): LogPage {
    return { events: this.#events.slice(start, start + pageSize), nextPageId: this.#idAt(start + pageSize) };
  }

  #idAt(index: number): string | null {
    return textAt(this.#events[index], "id") || null;
  }

  #placeOf(id: string): number {
    const place = this.#places.get(id);
    if (place === undefined) throw notHere();
    return place;
  }

  #owned<Value>(id: string, value: Value): Value {
    if (id !== this.id) throw notHere();
    return value;
  }
}

/** What holds before an event says otherwise. */
const unsaid = { execution_status: "idle", stats: { usage_to_metrics: {} } };

function takeUpdate(conversation: Record<string, unknown>, event: Loose): void {
  const key = textAt(event, "key");
  if (key === "full_state") Object.assign(conversation, asLoose(event["value"]));
  else conversation[key] = event["value"];
}

function notHere(): ApiError {
  return new ApiError(404, "It is not in this file.", null, []);
}
