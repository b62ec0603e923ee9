import { rm } from "node:fs/promises";
import { DamagedEventError } from "../journal/journal.ts";
import { Fault } from "../lib/fault.ts";
import { userOfOwner } from "../lib/trash-owner.ts";
import type { HoldStore } from "../settings/hold-store.ts";
import type { DirectoryDeps } from "./directory-deps.ts";
import type { LoadedConversations } from "./loaded-conversations.ts";
import type { Asker } from "../engine/create-input.ts";
import { readConfig } from "../engine/read-config.ts";
import { conversationDamaged, conversationMissing, secretsUnreadable } from "../engine/refusals.ts";
import type { ConversationWorktrees } from "../tools/worktrees/conversation-worktrees.ts";
import { listTasks } from "../tools/tasks/task-ids.ts";
import type { ConversationSessions } from "../tools/conversation-sessions.ts";
import { isOwnedBy } from "./is-owned-by.ts";
import type { Watches } from "./watch.ts";

export type DeletionsDeps = Pick<DirectoryDeps, "deletions" | "journal"> & {
  readonly loaded: Pick<LoadedConversations, "bar" | "find" | "open">;
  readonly watches: Pick<Watches, "end">;
  readonly worktrees: Pick<ConversationWorktrees, "release">;
  readonly sessions: Pick<ConversationSessions, "stateDir">;
  readonly holds: Pick<HoldStore, "requireFree">;
};

/** Stops the work of conversations, then removes their logs and their private folders, those of their sub-agents included. */
export class Deletions {
  readonly #deps: DeletionsDeps;
  readonly #inProgress = new Map<string, Promise<void>>();

  constructor(deps: DeletionsDeps) {
    this.#deps = deps;
  }

  /** Requests of one user that arrive while the conversation is being deleted share that deletion and its result. */
  async delete(asker: Asker, id: string): Promise<void> {
    const key = `${asker.userId} ${id}`;
    const deleting =
      this.#inProgress.get(key) ?? this.#delete(asker, id).finally(() => this.#inProgress.delete(key));
    this.#inProgress.set(key, deleting);
    await deleting;
  }

  async #delete(asker: Asker, id: string): Promise<void> {
    const { journal, sessions, watches, worktrees } = this.#deps;
    const row = await journal.getConversation(id);
    if (!isOwnedBy(asker, row)) throw conversationMissing(id);
    const held = row.parentId === null ? [id] : [id, row.parentId];
    await this.#deps.holds.requireFree(held);
    await this.#remove(id, held);
    watches.end(id);
    // Checked again: another process may write into the folder during its removal.
    await rm(sessions.stateDir(id), { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });
    await worktrees.release(id, userOfOwner(row.ownerId), readConfig(row));
  }

  /**
   * The conversation cannot be loaded until its row is removed, or the removal failed: an actor loaded meanwhile
   * would stay behind.
   */
  async #remove(id: string, held: readonly string[]): Promise<void> {
    const { deletions, holds, journal, loaded } = this.#deps;
    const opened = await loaded.open(id).catch((error: unknown) => {
      if (isBeyondRepair(error)) return null;
      throw error;
    });
    using _barred = loaded.bar(id);
    // May be another actor than the opened one, if that was evicted or lost its lease.
    const last = await loaded.find(id);
    await opened?.[Symbol.asyncDispose]();
    if (last !== opened) await last?.[Symbol.asyncDispose]();
    // First, before the slow steps: another node would resume a run without an owner.
    const lease = await journal.claim(id);
    try {
      // Again: a hold may have been set meanwhile.
      await holds.requireFree(held);
      await this.#deleteTasks(id);
      await deletions.beforeDelete(id);
      await journal.deleteConversation(lease);
    } catch (error) {
      await journal.release(lease);
      throw error;
    }
  }

  /** Sub-agents' conversations are deleted too. */
  async #deleteTasks(id: string): Promise<void> {
    const { journal } = this.#deps;
    const row = await journal.getConversation(id);
    if (row === null) return;
    for (const taskId of await listTasks(journal, row)) {
      try {
        await this.delete({ userId: row.ownerId }, taskId);
      } catch (error) {
        if (!(error instanceof Fault && error.code === conversationMissing(taskId).code)) throw error;
      }
    }
  }
}

/** Errors that prevent work with a conversation, but not its deletion. */
function isBeyondRepair(error: unknown): boolean {
  const codes = [conversationDamaged("").code, secretsUnreadable("").code];
  return error instanceof DamagedEventError || (error instanceof Fault && codes.includes(error.code));
}
