import type { AutomationStore } from "../automations/automation-store.ts";
import type { TriggerPort } from "../automations/trigger-port.ts";
import type { NamedLease, NamedLeases } from "../cluster/named-leases.ts";
import type { ConversationRow, Journal } from "../journal/journal.ts";
import type { Clock } from "../lib/clock.ts";
import { describeError } from "../lib/describe-error.ts";
import { itemsOfPages } from "../lib/items-of-pages.ts";
import type { Logger } from "../lib/logger.ts";
import type { wait } from "../lib/wait.ts";
import type { EventCursor } from "./event-cursor.ts";
import {
  eventPayload,
  isOfEvents,
  isStartedBy,
  refusalAt,
  type ConversationFacts,
  type EventAutomation,
  type NotedEvent,
} from "./event-match.ts";
import { readNotedEvents, statusKind } from "./noted-events.ts";

export type EventTriggersDeps = {
  readonly store: Pick<AutomationStore, "ofKind">;
  readonly port: TriggerPort;
  readonly journal: Pick<Journal, "onCommit" | "search" | "searchConversations">;
  /** Null for a conversation whose configuration is damaged. */
  readonly factsOf: (row: ConversationRow) => ConversationFacts | null;
  readonly cursor: EventCursor;
  readonly leases: NamedLeases;
  readonly clock: Clock;
  readonly wait: typeof wait;
  readonly logger: Logger;
};

const pollMs = 1_000;
/** The maximum delay between an event's time and its visibility to this node, with clocks that differ. */
const lateMs = 10_000;
/** How far the stored cursor may be behind where nothing happens. */
const saveEveryMs = 60_000;

/**
 * Starts automations at events of other conversations. One node of a store does it for all of them; after a crash the next one looks through
 * the same events again, and each starts its automations once, because the id of the event is the key of the run.
 */
export class EventTriggers implements AsyncDisposable {
  readonly #deps: EventTriggersDeps;
  readonly #closing = new AbortController();
  readonly #stopCommits: () => void;
  #loop: Promise<void> = Promise.resolve();
  #lease: NamedLease | null = null;
  #cursorMs: number | null = null;
  #savedMs = -Infinity;
  #hasNews = true;
  /** Where the logs of recently changed conversations ended when they were looked through. */
  #seen = new Map<string, number>();

  constructor(deps: EventTriggersDeps) {
    this.#deps = deps;
    this.#stopCommits = deps.journal.onCommit(({ type }) => {
      if (type === "appended" || type === "created") this.#hasNews = true;
    });
  }

  /** Begins to look for events, until it is disposed of. */
  open(): void {
    this.#loop = this.#run();
  }

  /** Looks through what happened since the last time. Rejects where it must be done again. */
  async check(): Promise<void> {
    const { leases, store, clock } = this.#deps;
    if (!(await this.#takeLease())) return;
    if (!this.#hasNews && !leases.mayHaveOthers()) return;
    this.#hasNews = false;
    const beganMs = clock.nowMs();
    try {
      const automations = (await store.ofKind("event")).filter(isOfEvents);
      const sinceMs = this.#cursorMs ?? beganMs;
      if (automations.length > 0) await this.#readChanged(automations, sinceMs - lateMs);
      else this.#seen.clear();
      await this.#advance(beganMs, automations.length > 0);
    } catch (error) {
      this.#hasNews = true;
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    this.#stopCommits();
    await this.#loop;
    await this.#lease?.[Symbol.asyncDispose]();
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        await this.check();
      } catch (error) {
        if (signal.aborted) return;
        this.#deps.logger.error({ error: describeError(error) }, "events could not start automations");
      }
      await this.#deps.wait(pollMs, signal);
    }
  }

  async #takeLease(): Promise<boolean> {
    if (this.#lease?.isHeld() === true) return true;
    this.#lease = await this.#deps.leases.take("automation-events");
    if (this.#lease === null) return false;
    // Another node may have looked through more meanwhile.
    this.#cursorMs = await this.#deps.cursor.load();
    this.#savedMs = this.#cursorMs ?? -Infinity;
    this.#seen.clear();
    this.#hasNews = true;
    return true;
  }

  /** Every conversation that changed since then, the last changed first. */
  async #readChanged(automations: readonly EventAutomation[], sinceMs: number): Promise<void> {
    const { journal } = this.#deps;
    const owners = new Set(automations.map(({ ownerId }) => ownerId));
    const kinds = new Set([statusKind, ...automations.flatMap(({ trigger }) => trigger.event_kinds ?? [])]);
    const seen = new Map<string, number>();
    const query = { sort: "UPDATED_AT_DESC", limit: 100 } as const;
    for await (const row of itemsOfPages((pageId) => journal.searchConversations({ ...query, pageId }))) {
      if (row.updatedAtMicros < sinceMs * 1_000) break;
      this.#closing.signal.throwIfAborted();
      if (owners.has(row.ownerId) && this.#seen.get(row.id) !== row.lastSeq) {
        const events = await readNotedEvents(journal, row.id, [...kinds], sinceMs);
        await this.#start(row, automations, events);
      }
      seen.set(row.id, row.lastSeq);
    }
    this.#seen = seen;
  }

  async #start(
    row: ConversationRow,
    automations: readonly EventAutomation[],
    events: readonly NotedEvent[],
  ): Promise<void> {
    if (events.length === 0) return;
    const conversation = this.#deps.factsOf(row);
    if (conversation === null) return;
    const refusal = refusalAt(conversation);
    for (const event of events)
      for (const automation of automations.filter((each) => isStartedBy(each, conversation, event)))
        await this.#deps.port.trigger(automation.id, {
          origin: "event",
          key: `${conversation.id}:${event.id}`,
          payload: eventPayload(conversation, event),
          ...(refusal === null ? {} : { refusal }),
        });
  }

  /** The cursor follows the clock; it is stored when something may have happened, and now and then. */
  async #advance(beganMs: number, isWatching: boolean): Promise<void> {
    this.#cursorMs = beganMs;
    if (!isWatching && beganMs - this.#savedMs < saveEveryMs) return;
    await this.#deps.cursor.save(beganMs);
    this.#savedMs = beganMs;
  }
}
