import { AsyncLocalStorage } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import type { SpentAttempt } from "../models/model.ts";

/** Observed work with a duration. Nothing in it is secret, except the result of `content`. */
export type Activity =
  | { readonly kind: "request"; readonly requestId: string; readonly method: string; readonly route: string }
  | { readonly kind: "run"; readonly conversationId: string }
  /** `content` gives the messages that are sent, as JSON; asked only where they are wanted. */
  | { readonly kind: "model call"; readonly model: string; readonly content: () => string }
  | {
      readonly kind: "tool";
      readonly conversationId: string;
      readonly tool: string;
      readonly actionId: string;
    };

/** How an activity ended. */
export type Ending = {
  /** A stable code of few words; null when all went well. */
  readonly error: string | null;
  /** Of a request. */
  readonly status?: number;
  /** Of a request that another server has passed on, which counts it as well. */
  readonly isForwarded?: boolean;
  /** What a model call has used up: its answer, and attempts that failed. */
  readonly spent?: readonly SpentAttempt[];
};

/** Ids that join what belongs together, e.g. lines of a log. */
export type JoinedIds = Readonly<Record<string, string>>;

/** An activity in progress. */
export type Begun = {
  readonly activity: Activity;
  readonly parent: Begun | null;
  readonly startMs: number;
  /** Its own ids and those of whatever it is a part of. */
  readonly ids: JoinedIds;
};

/** Records activities; must return at once and not throw. */
export interface Sink {
  began?(begun: Begun): void;
  ended(begun: Begun, ending: Ending, durationMs: number): void;
  /** Events of a log became durable. */
  appended?(durationMs: number): void;
}

/**
 * Tracks activities and reports them to its sinks. An activity that begins inside another one is a part of it, across
 * every `await`.
 */
export class Observer {
  readonly #current = new AsyncLocalStorage<Begun>();
  readonly #sinks: Sink[] = [];

  add(sink: Sink): void {
    this.#sinks.push(sink);
  }

  begin(activity: Activity): Begun {
    const parent = this.#current.getStore() ?? null;
    const ids = { ...parent?.ids, ...idsOf(activity) };
    const begun: Begun = { activity, parent, startMs: performance.now(), ids };
    for (const sink of this.#sinks) sink.began?.(begun);
    return begun;
  }

  end(begun: Begun, ending: Ending): void {
    const durationMs = performance.now() - begun.startMs;
    for (const sink of this.#sinks) sink.ended(begun, ending, durationMs);
  }

  /** Does work as a part of an activity. */
  within<Result>(begun: Begun, work: () => Result): Result {
    return this.#current.run(begun, work);
  }

  /** Of the activity that the caller is a part of; empty outside of any. */
  get ids(): JoinedIds {
    return this.#current.getStore()?.ids ?? {};
  }

  appended(durationMs: number): void {
    for (const sink of this.#sinks) sink.appended?.(durationMs);
  }
}

function idsOf(activity: Activity): JoinedIds {
  switch (activity.kind) {
    case "request":
      return { requestId: activity.requestId };
    case "run":
      return { conversation: activity.conversationId, run: randomUUID() };
    case "model call":
      return { modelCall: randomUUID() };
    case "tool":
      return { conversation: activity.conversationId, action: activity.actionId };
  }
}
