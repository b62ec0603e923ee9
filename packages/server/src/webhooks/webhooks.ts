import type { ApplicationDatabase } from "../database/application-database.ts";
import type { NamedLease, NamedLeases } from "../cluster/named-leases.ts";
import type { Journal } from "../journal/journal.ts";
import type { Logger } from "../lib/logger.ts";
import type { wait } from "../lib/wait.ts";
import { CursorStore } from "./cursor-store.ts";
import { Receiver, type DescribedConversations, type ReceiverStatus } from "./receiver.ts";
import { webhookId, type WebhookSpec } from "./webhook.ts";
import type { Clock } from "../lib/clock.ts";
import { itemsOfPages } from "../lib/items-of-pages.ts";

export type WebhooksDeps = {
  readonly hooks: readonly WebhookSpec[];
  readonly database: ApplicationDatabase;
  readonly journal: Journal;
  readonly leases: NamedLeases;
  readonly conversations: DescribedConversations;
  readonly clock: Clock;
  readonly wait: typeof wait;
  readonly logger: Logger;
};

/** A receiver and its state at this node. */
type Post = {
  readonly receiver: Receiver;
  readonly cursors: CursorStore;
  readonly leaseName: string;
  /** Null while another node posts to it. */
  lease: NamedLease | null;
  /** This node knows all changes before this time, in epoch microseconds; null before its first check. */
  knownMicros: number | null;
};

/** The maximum delay between a commit's time and its visibility to other nodes. */
const lateMicros = 5_000_000;

/**
 * The configured receivers of all conversations. Events that were not posted are found again after a restart. One node
 * of a store posts to a receiver, whichever node writes; when it ends, another one takes over.
 */
export class Webhooks implements AsyncDisposable {
  readonly #deps: WebhooksDeps;
  readonly #posts: readonly Post[];
  #checking: Promise<void> = Promise.resolve();
  #isChecking = false;
  #isClosed = false;

  constructor(deps: WebhooksDeps) {
    this.#deps = deps;
    this.#posts = deps.hooks.map((hook) => {
      const id = webhookId(hook);
      const cursors = new CursorStore(deps.database, id);
      const receiver = new Receiver({ ...deps, hook, id, cursors });
      return { receiver, cursors, leaseName: `webhook-${id}`, lease: null, knownMicros: null };
    });
  }

  get status(): ReceiverStatus[] {
    return this.#posts.map(({ receiver }) => receiver.status);
  }

  /** Resolves when new commits are accepted; unposted events of the last process are found in the background. */
  async open(): Promise<void> {
    await this.#takeLeases();
    this.check();
  }

  /** Checks in the background for events that other nodes have written or left unposted. Call it periodically. */
  check(): void {
    if (this.#posts.length === 0 || this.#isChecking || this.#isClosed) return;
    this.#isChecking = true;
    this.#checking = this.#checkAll()
      .catch((error: unknown) => {
        this.#deps.logger.error({ error: String(error) }, "webhooks could not be caught up");
      })
      .finally(() => (this.#isChecking = false));
  }

  /** Call after each commit to a conversation's log. */
  onAppend(conversationId: string, lastSeq: number): void {
    for (const { lease, receiver } of this.#posts) {
      if (lease?.isHeld() === true) receiver.touch(conversationId, lastSeq);
    }
  }

  /** Call it before a conversation is removed, so that a crash right after it does not lose the deletion. */
  async onDelete(conversationId: string): Promise<void> {
    for (const { cursors } of this.#posts) await cursors.markDeleted(conversationId);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#posts.map(({ receiver }) => receiver[Symbol.asyncDispose]()));
    await this.#checking;
    for (const { lease } of this.#posts) await lease?.[Symbol.asyncDispose]();
  }

  async #takeLeases(): Promise<void> {
    for (const post of this.#posts) {
      if (post.lease?.isHeld() === true) continue;
      post.lease = null;
      const lease = await this.#deps.leases.take(post.leaseName);
      if (lease === null) continue;
      try {
        await post.receiver.open();
      } catch (error) {
        await lease[Symbol.asyncDispose]();
        throw error;
      }
      post.lease = lease;
      post.knownMicros = null;
    }
  }

  async #checkAll(): Promise<void> {
    await this.#takeLeases();
    const mayHaveOthers = this.#deps.leases.mayHaveOthers();
    for (const post of this.#posts) {
      if (post.lease === null || (post.knownMicros !== null && !mayHaveOthers)) continue;
      const beganMicros = this.#deps.clock.nowMs() * 1000;
      if (post.knownMicros !== null) await post.receiver.checkForDeleted();
      await this.#catchUp(post.receiver, post.knownMicros ?? post.receiver.sinceMs * 1000);
      post.knownMicros = beganMicros - lateMicros;
    }
  }

  /** Every conversation that changed since then; the receiver compares its own cursors. */
  async #catchUp(receiver: Receiver, sinceMicros: number): Promise<void> {
    const query = { sort: "UPDATED_AT_DESC", limit: 100 } as const;
    const { journal } = this.#deps;
    for await (const row of itemsOfPages((pageId) => journal.searchConversations({ ...query, pageId }))) {
      if (row.updatedAtMicros < sinceMicros || this.#isClosed) return;
      receiver.touch(row.id, row.lastSeq);
    }
  }
}
