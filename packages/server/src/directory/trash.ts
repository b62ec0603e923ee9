import { listTasks } from "../tools/tasks/task-ids.ts";
import { LeaseHeldError, type ConversationRow, type Journal } from "../journal/journal.ts";
import type { Asker } from "../engine/create-input.ts";
import { conversationMissing, OwnedElsewhere } from "../engine/refusals.ts";
import type { Clock } from "../lib/clock.ts";
import { Fault } from "../lib/fault.ts";
import { isTrashOwner, trashOwner } from "../lib/trash-owner.ts";
import type { HoldStore } from "../settings/hold-store.ts";
import type { Trashed, TrashStore } from "../settings/trash-store.ts";
import type { Deletions } from "./deletions.ts";
import { isOwnedBy } from "./is-owned-by.ts";
import type { LoadedConversations } from "./loaded-conversations.ts";
import type { Watches } from "./watch.ts";

export type TrashDeps = {
  readonly journal: Journal;
  readonly trash: TrashStore;
  readonly holds: HoldStore;
  readonly loaded: Pick<LoadedConversations, "bar" | "find" | "open">;
  readonly watches: Pick<Watches, "end">;
  readonly deletions: Pick<Deletions, "delete">;
  readonly clock: Clock;
};

export type TrashOrder = {
  readonly id: string;
  /** Who wants it, or which rule. */
  readonly reason: string;
  readonly days: number;
};

const dayMs = 86_400_000;
const working = new Set(["running", "waiting_for_confirmation"]);

/**
 * Conversations between their use and their deletion. In the trash a conversation belongs to nobody who makes requests, so that no list
 * shows it and nothing in it runs; its sub-agents' conversations go and come with it.
 */
export class Trash {
  readonly #deps: TrashDeps;

  constructor(deps: TrashDeps) {
    this.#deps = deps;
  }

  /** Fails for a conversation that works or waits for an approval (409), and for one on hold. */
  async put(asker: Asker, { id, reason, days }: TrashOrder): Promise<Trashed> {
    const { clock, holds, journal, trash, watches } = this.#deps;
    const row = await journal.getConversation(id);
    if (!isOwnedBy(asker, row)) throw conversationMissing(id);
    await holds.requireFree([id]);
    requireRest(row);
    if (row.sandboxId !== null || row.appFacts !== null)
      throw new Fault(
        "conflict",
        "conversation_in_sandbox",
        `Conversation ${id} belongs to a sandbox, which has no trash. Delete it, or leave it.`,
      );
    const now = clock.nowMs();
    const entry: Trashed = {
      conversation_id: id,
      user_id: asker.userId,
      title: row.title,
      reason,
      trashed_at: now,
      ends_at: now + days * dayMs,
    };
    // The record first: a conversation without one could not be found again.
    await trash.add(entry);
    try {
      await this.#move(row, trashOwner(asker.userId));
    } catch (error) {
      if ((await journal.ownerOf(id)) === asker.userId) await this.#giveUp(row);
      throw error;
    }
    watches.end(id);
    return entry;
  }

  /** Puts a conversation back where it was. */
  async restore(asker: Asker, id: string): Promise<void> {
    const { journal, trash } = this.#deps;
    await this.#require(asker, id);
    const row = await journal.getConversation(id);
    if (row !== null && isTrashOwner(row.ownerId)) await this.#move(row, asker.userId);
    await trash.remove(id);
    if (row === null) throw conversationMissing(id);
  }

  /** Deletes a conversation that is in the trash; nothing is left of it. */
  async delete(asker: Asker, id: string): Promise<void> {
    const { deletions, holds, journal, trash } = this.#deps;
    await this.#require(asker, id);
    await holds.requireFree([id]);
    const row = await journal.getConversation(id);
    // One that was put back, by a process that ended before it said so, is in use.
    if (row !== null && !isTrashOwner(row.ownerId)) return await this.#giveUp(row);
    if (row !== null) await deletions.delete({ userId: row.ownerId }, id);
    await trash.remove(id);
  }

  /** The conversation is in use: its sub-agents' conversations are where it is. */
  async #giveUp(row: ConversationRow): Promise<void> {
    const { journal, trash } = this.#deps;
    for (const taskId of await listTasks(journal, row))
      await journal.markConversation(taskId, { ownerId: row.ownerId });
    await trash.remove(row.id);
  }

  async #require({ userId }: Asker, id: string): Promise<void> {
    if ((await this.#deps.trash.get(id))?.user_id !== userId) throw conversationMissing(id);
  }

  /** Under the lease, so that no actor and no run of it is anywhere. */
  async #move(row: ConversationRow, ownerId: string): Promise<void> {
    const { journal, loaded } = this.#deps;
    const { id } = row;
    const actor = await loaded.find(id);
    if (actor?.isBusy === true) throw working409(id);
    using _barred = loaded.bar(id);
    await actor?.[Symbol.asyncDispose]();
    const lease = await journal.claim(id).catch((error: unknown) => {
      throw error instanceof LeaseHeldError ? new OwnedElsewhere(error.holder) : error;
    });
    try {
      const now = await journal.getConversation(id);
      if (now === null) throw conversationMissing(id);
      requireRest(now);
      for (const taskId of await listTasks(journal, now)) {
        const task = await journal.getConversation(taskId);
        if (task !== null && task.ownerId === now.ownerId) await this.#move(task, ownerId);
      }
      await journal.markConversation(id, { ownerId });
    } finally {
      await journal.release(lease);
    }
  }
}

/** Nothing is taken from a run, and no question from who must answer it. */
function requireRest({ id, executionStatus, isActive }: ConversationRow): void {
  if (isActive || working.has(executionStatus)) throw working409(id);
}

function working409(id: string): Fault {
  return new Fault(
    "conflict",
    "conversation_working",
    `Conversation ${id} works, or waits for an approval. Stop it first.`,
  );
}
