import type { ApplicationDatabase } from "../database/application-database.ts";
import type { Journal } from "../journal/journal.ts";
import type { Logger } from "../lib/logger.ts";
import type { wait } from "../lib/wait.ts";
import { CursorStore } from "./cursor-store.ts";
import { Receiver, type ReceiverStatus } from "./receiver.ts";
import { webhookId, type WebhookSpec } from "./webhook.ts";

export type WebhooksDeps = {
  readonly hooks: readonly WebhookSpec[];
  readonly database: ApplicationDatabase;
  readonly journal: Journal;
  readonly describe: (conversationId: string) => Promise<string | null>;
  readonly nowMs: () => number;
  readonly wait: typeof wait;
  readonly logger: Logger;
};

/** The configured receivers of all conversations. What they have not heard is found again after a restart. */
export class Webhooks implements AsyncDisposable {
  readonly #deps: WebhooksDeps;
  readonly #receivers: readonly Receiver[];
  #catchingUp: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(deps: WebhooksDeps) {
    this.#deps = deps;
    this.#receivers = deps.hooks.map((hook) => {
      const id = webhookId(hook);
      return new Receiver({ ...deps, hook, id, cursors: new CursorStore(deps.database, id) });
    });
  }

  get status(): ReceiverStatus[] {
    return this.#receivers.map((receiver) => receiver.status);
  }

  /** Resolves when news are taken; what the last process left is looked for behind that. */
  async open(): Promise<void> {
    for (const receiver of this.#receivers) await receiver.open();
    if (this.#receivers.length === 0) return;
    this.#catchingUp = this.#catchUp().catch((error: unknown) => {
      this.#deps.logger.error({ error: String(error) }, "webhooks could not be caught up");
    });
  }

  /** Call after each commit to a conversation's log. */
  onAppend(conversationId: string, lastSeq: number): void {
    for (const receiver of this.#receivers) receiver.touch(conversationId, lastSeq);
  }

  /** Call before a conversation is removed, so that a crash right after it is not forgotten. */
  async onDelete(conversationId: string): Promise<void> {
    for (const hook of this.#deps.hooks) {
      await new CursorStore(this.#deps.database, webhookId(hook)).markDeleted(conversationId);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#receivers.map((receiver) => receiver[Symbol.asyncDispose]()));
    await this.#catchingUp;
  }

  /** Every conversation that changed since the receivers are known; each compares its own cursor. */
  async #catchUp(): Promise<void> {
    const sinceMicros = Math.min(...this.#receivers.map(({ sinceMs }) => sinceMs)) * 1000;
    let pageId: string | null = null;
    do {
      const query = { sort: "UPDATED_AT_DESC" as const, limit: 100 };
      const page: Awaited<ReturnType<Journal["searchConversations"]>> =
        await this.#deps.journal.searchConversations(pageId === null ? query : { ...query, pageId });
      for (const row of page.items) {
        if (row.updatedAtMicros < sinceMicros) return;
        for (const receiver of this.#receivers) receiver.touch(row.id, row.lastSeq);
      }
      pageId = page.nextPageId;
    } while (pageId !== null && !this.#isClosed);
  }
}
