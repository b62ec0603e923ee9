import type { PushKind, PushNews } from "@convoke/protocol";
import { describeError } from "../lib/describe-error.ts";
import type { Fetch } from "../lib/filtered-fetch.ts";
import type { Logger } from "../lib/logger.ts";
import { Slots } from "../lib/slots.ts";
import type { wait } from "../lib/wait.ts";
import { toPushPost, type PushPost, type Sender } from "./push-post.ts";
import type { PushOwner, Subscription, SubscriptionStore } from "./subscription-store.ts";

/** The state of a conversation after a run, for a notification. */
export type RunOutcome = {
  readonly ownerId: string;
  readonly status: string;
  /** A sub-agent's end is its conversation's business. */
  readonly isTask: boolean;
};

export type PushesDeps = {
  readonly subscriptions: SubscriptionStore;
  readonly sender: Sender;
  /** Null for a conversation that is gone. */
  readonly runs: { find(conversationId: string): Promise<RunOutcome | null> };
  /** False once the key or the login that asked for a subscription is over. */
  readonly owners: { isStillGood(owner: PushOwner): boolean };
  readonly fetch: Fetch;
  readonly wait: typeof wait;
  readonly logger: Logger;
};

const answerMs = 30_000;
const parallelPosts = 8;
/** The maximum of queued notifications; further ones are dropped and logged. */
const maxWaiting = 1_000;
const pausesMs = [2_000, 15_000, 60_000];
const longestPauseMs = 300_000;

/**
 * Notifies browsers of runs that end here: waiting for approval, finished, failed. Each run ends on one node, so one
 * node notifies. The queue is in memory only: its notifications are lost when the process ends, and the page shows the
 * same facts.
 */
export class Pushes implements AsyncDisposable {
  readonly #deps: PushesDeps;
  readonly #closing = new AbortController();
  readonly #slots = new Slots(parallelPosts, this.#closing.signal);
  readonly #working = new Set<Promise<void>>();

  constructor(deps: PushesDeps) {
    this.#deps = deps;
  }

  /** Call when a run has ended and its end is stored. Does the rest behind the call. */
  onRunEnd(conversationId: string): void {
    this.#begin(() => this.#notify(conversationId));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#working);
  }

  #begin(work: () => Promise<void>): void {
    if (this.#closing.signal.aborted) return;
    if (this.#working.size >= maxWaiting) {
      this.#deps.logger.warn(
        { waiting: maxWaiting },
        "too many notifications wait for push services; some were dropped",
      );
      return;
    }
    const working = work()
      .catch((error: unknown) => {
        this.#deps.logger.error({ error: describeError(error) }, "browsers could not be notified");
      })
      .finally(() => this.#working.delete(working));
    this.#working.add(working);
  }

  async #notify(conversationId: string): Promise<void> {
    const { subscriptions, runs, owners, sender } = this.#deps;
    const outcome = await runs.find(conversationId);
    const kind = outcome === null ? null : kindOf(outcome);
    if (outcome === null || kind === null) return;
    const news: PushNews = { conversation_id: conversationId, kind };
    for (const { subscription, target } of await subscriptions.targets(outcome.ownerId)) {
      if (!owners.isStillGood(subscription.owner)) await this.#remove(subscription);
      else if (subscription.kinds.includes(kind)) {
        this.#begin(() => this.#deliver(subscription, toPushPost(sender, target, news)));
      }
    }
  }

  async #deliver(subscription: Subscription, post: PushPost): Promise<void> {
    const { signal } = this.#closing;
    for (const pauseMs of [...pausesMs, null]) {
      const answer = await this.#post(post);
      if (signal.aborted || answer === "taken") return;
      if (answer === "gone") return await this.#remove(subscription);
      const { reason, retryMs } = answer;
      const isLast = pauseMs === null || retryMs === null;
      const fields = { service: subscription.service, error: reason };
      this.#deps.logger.warn(
        fields,
        isLast ? "a browser was not notified" : "a browser will be notified later",
      );
      if (isLast) return;
      await this.#deps.wait(Math.max(pauseMs, retryMs), signal);
    }
  }

  async #post({ endpoint, headers, body }: PushPost): Promise<"taken" | "gone" | Refusal> {
    using _slot = await this.#slots.take();
    if (this.#closing.signal.aborted) return "taken";
    try {
      const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(answerMs)]);
      const reply = await this.#deps.fetch(endpoint, {
        method: "POST",
        headers,
        body,
        redirect: "error",
        signal,
      });
      await reply.body?.cancel();
      if (reply.ok) return "taken";
      if (reply.status === 404 || reply.status === 410) return "gone";
      const mayPass = reply.status === 429 || reply.status >= 500;
      const reason = `The push service answered ${reply.status}.`;
      return { reason, retryMs: mayPass ? pauseOf(reply.headers.get("retry-after")) : null };
    } catch (error) {
      return { reason: describeError(error), retryMs: 0 };
    }
  }

  async #remove({ owner, id }: Subscription): Promise<void> {
    await this.#deps.subscriptions.remove(owner.userId, id);
  }
}

/** `retryMs` is null when a retry would not help. */
type Refusal = { readonly reason: string; readonly retryMs: number | null };

function pauseOf(retryAfter: string | null): number {
  const seconds = Number(retryAfter ?? 0);
  return Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds * 1_000, longestPauseMs) : 0;
}

function kindOf({ status, isTask }: RunOutcome): PushKind | null {
  if (status === "waiting_for_confirmation") return "asks";
  if (isTask) return null;
  if (status === "finished") return "done";
  return status === "error" || status === "stuck" ? "failed" : null;
}
