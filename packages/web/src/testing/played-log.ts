import type { FollowItem } from "@convoke/client";
import type { Event } from "@convoke/protocol";
import { asRecord, textAt, type UnknownRecord } from "@convoke/client/view";
import type { LogPage } from "../log/log-page.ts";
import type { LogSource } from "../log/open-log.ts";

/** A server with one conversation in memory: pages, and a stream that can be cut. */
export class PlayedLog {
  readonly events: UnknownRecord[];
  info: UnknownRecord = { execution_status: "idle" };
  pageSize = 100;
  requests = 0;
  #wake: (() => void)[] = [];
  #cuts = 0;

  constructor(events: readonly UnknownRecord[]) {
    this.events = [...events];
  }

  append(...events: UnknownRecord[]): void {
    this.events.push(...events);
    this.#ring();
  }

  /** Ends every stream, like a network error. */
  cut(): void {
    this.#cuts += 1;
    this.#ring();
  }

  readonly source: LogSource = {
    conversation: async () => this.info,
    older: async (_, pageId) => this.#page(pageId === "" ? this.events.length : this.#at(pageId) + 1),
    newer: async (_, pageId) => this.#newer(this.#at(pageId)),
    follow: (_, { afterEventId, signal, onConnection }) => {
      onConnection?.({ state: "connected", atMs: 0, reason: null, retryAtMs: null });
      return this.#stream(afterEventId ?? null, signal!);
    },
  };

  #at(eventId: string): number {
    return this.events.findIndex((event) => event["id"] === eventId);
  }

  #page(end: number): LogPage {
    this.requests += 1;
    const start = Math.max(0, end - this.pageSize);
    const nextPageId = start === 0 ? null : textAt(this.events[start - 1], "id");
    return { events: this.events.slice(start, end), nextPageId };
  }

  #newer(start: number): LogPage {
    this.requests += 1;
    const end = start + this.pageSize;
    return { events: this.events.slice(start, end), nextPageId: textAt(this.events[end], "id") || null };
  }

  async *#stream(after: string | null, signal: AbortSignal): AsyncIterable<FollowItem> {
    let next = after === null ? 0 : this.events.findIndex((event) => event["id"] === after) + 1;
    const cuts = this.#cuts;
    while (!signal.aborted && this.#cuts === cuts) {
      for (; next < this.events.length && this.#cuts === cuts; next += 1) yield toItem(this.events[next]!);
      if (signal.aborted || this.#cuts !== cuts) return;
      await new Promise<void>((resolve) => {
        this.#wake.push(resolve);
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
    }
  }

  #ring(): void {
    const waiting = this.#wake;
    this.#wake = [];
    for (const wake of waiting) wake();
  }
}

function toItem(event: UnknownRecord): FollowItem {
  if (textAt(event, "id") === "" || asRecord(event["value"])?.["version"] !== undefined)
    return { type: "signal", frame: event };
  return { type: "event", event: event as unknown as Event, json: JSON.stringify(event), trimmed: null };
}
