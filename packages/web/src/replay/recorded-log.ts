import type { Landmarks, PastState } from "@convoke/protocol";
import { ApiError } from "@convoke/client";
import { textAt, type UnknownRecord } from "@convoke/client/view";
import type { LogPage } from "../log/log-page.ts";
import { landmarksOf } from "./recorded-landmarks.ts";
import { RecordedStates } from "./recorded-states.ts";

const pageSize = 200;

/** An event, and the state of the conversation at it, as the server would return it. */
export type RecordedMoment = Pick<PastState, "event_id" | "timestamp" | "position" | "length"> & {
  readonly past: UnknownRecord;
};

/**
 * A recorded log in memory, and the state of its conversation at each event: a fold of the events before it. `info`
 * is the conversation when it was recorded; only fields that no event changes are used.
 */
export class RecordedLog {
  readonly id: string;
  /** As of the recording. */
  readonly info: UnknownRecord;
  readonly #events: readonly UnknownRecord[];
  readonly #states: RecordedStates;
  readonly #places = new Map<string, number>();

  constructor(info: UnknownRecord, events: readonly UnknownRecord[]) {
    this.id = textAt(info, "id");
    this.info = info;
    this.#events = events;
    this.#states = new RecordedStates(info, events);
    for (const [index, event] of events.entries()) this.#places.set(textAt(event, "id"), index);
  }

  get length(): number {
    return this.#events.length;
  }

  /** The landmarks of the log. */
  get landmarks(): Landmarks {
    return landmarksOf(this.#events, textAt(this.info, "forked_from_event_id"));
  }

  /** The state at a position, from 1 to the length; positions are those of the server. */
  at(position: number): RecordedMoment {
    const place = Math.min(position, this.length);
    const last = this.#events[place - 1];
    return {
      event_id: textAt(last, "id") || null,
      timestamp: textAt(last, "timestamp") || null,
      position: place,
      length: this.length,
      past: this.#states.at(place),
    };
  }

  /** The state at a timestamp: at the last event until then, or at the first one. */
  atInstant(instant: string): RecordedMoment {
    let [start, end] = [0, this.length];
    while (start < end) {
      const middle = (start + end) >> 1;
      if (textAt(this.#events[middle], "timestamp") <= instant) start = middle + 1;
      else end = middle;
    }
    return this.at(Math.max(1, start));
  }

  /** A page up to the event with this id, or to the end of the log where the id is empty. */
  older(pageId: string): LogPage {
    const end = pageId === "" ? this.length : this.#placeOf(pageId) + 1;
    const start = Math.max(0, end - pageSize);
    return { events: this.#events.slice(start, end), nextPageId: this.#idAt(start - 1) };
  }

  /** A page from the event with this id on. */
  newer(pageId: string): LogPage {
    const start = this.#placeOf(pageId);
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
}

export function notHere(): ApiError {
  return new ApiError(404, "This is not part of the replay file.", null, []);
}
