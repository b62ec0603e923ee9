import type { Message } from "@convoke/protocol";
import type { ConversationInfoSource } from "../engine/state/conversation-info.ts";
import type { Asker, Directory } from "../directory/directory.ts";
import { conversationMissing } from "../engine/refusals.ts";
import type { Logger } from "../lib/logger.ts";
import type { HoldStore } from "../settings/hold-store.ts";
import type { AppConversationRow, AppConversationStore, AppFactsChange } from "./app-conversation-store.ts";
import {
  countConversations,
  listConversations,
  type ListFilter,
  type ListQuery,
} from "./list-conversations.ts";
import { machineUnavailable, sandboxUnavailable, sandboxesNotServed } from "./sandbox-refusals.ts";
import type { Sandboxes, SandboxHost, SandboxView } from "./sandbox-service.ts";
import type { Started, StartTaskStore } from "./start-task-store.ts";

export type AppConversationsDeps = {
  readonly rows: AppConversationStore;
  readonly tasks: StartTaskStore;
  readonly directory: Directory;
  /** Null where none are served. */
  readonly sandboxes: Sandboxes | null;
  readonly holds: Pick<HoldStore, "requireFree">;
  readonly logger: Logger;
};

/** A conversation in a sandbox with how both stand now. */
export type AppConversationView = {
  readonly row: AppConversationRow;
  readonly described: ConversationInfoSource;
  /** Null when nothing is left of it. */
  readonly sandbox: SandboxView | null;
  readonly subConversationIds: readonly string[];
};

/** Conversations in sandboxes. The conversation itself is the directory's; reads wait for no sandbox. */
export class AppConversations {
  readonly #deps: AppConversationsDeps;

  constructor(deps: AppConversationsDeps) {
    this.#deps = deps;
  }

  /** Also one whose deletion has begun. */
  async has(asker: Asker, id: string): Promise<boolean> {
    return (await this.#find(asker.userId, id)) !== null;
  }

  /** In the order of `ids`, null for those that are not there for the asker. */
  async getMany(asker: Asker, ids: readonly string[]): Promise<(AppConversationView | null)[]> {
    return await this.#views(asker, await this.#deps.rows.getMany(asker.userId, ids));
  }

  async get(asker: Asker, id: string): Promise<AppConversationView> {
    const [view] = await this.getMany(asker, [id]);
    if (!view) throw conversationMissing(id);
    return view;
  }

  async search(
    asker: Asker,
    query: Omit<ListQuery, "ownerId">,
  ): Promise<{ items: AppConversationView[]; nextPageId: string | null }> {
    const { rows, nextPageId } = await listConversations(this.#deps.rows, {
      ...query,
      ownerId: asker.userId,
    });
    const views = await this.#views(asker, rows);
    return { items: views.filter((view) => view !== null), nextPageId };
  }

  async count(asker: Asker, filter: Omit<ListFilter, "ownerId">): Promise<number> {
    return await countConversations(this.#deps.rows, { ...filter, ownerId: asker.userId });
  }

  async update(
    asker: Asker,
    id: string,
    change: AppFactsChange & { readonly title?: string | null },
  ): Promise<AppConversationView> {
    const { title, ...facts } = change;
    await this.get(asker, id);
    if (title !== undefined) await (await this.#deps.directory.open(asker, id)).titling.set(title);
    await this.#deps.rows.update(id, facts);
    return await this.get(asker, id);
  }

  /** Resolves when the message is stored. Rejects with a Fault that says how the sandbox stands when it does not run. */
  async send(
    asker: Asker,
    id: string,
    input: { readonly message: Message; readonly wantsRun: boolean },
  ): Promise<{ readonly eventId: string }> {
    await this.#runningSandbox(asker, id);
    return await (await this.#deps.directory.open(asker, id)).send(input);
  }

  /** The inside of a conversation's sandbox; rejects as {@link send} does. */
  async openHost(asker: Asker, id: string): Promise<SandboxHost & { readonly workingDir: string }> {
    const { sandboxId, workingDir } = await this.#runningSandbox(asker, id);
    return { ...(await this.#sandboxes.openHost(sandboxId)), workingDir };
  }

  /**
   * Removes a conversation, those below it, and the sandboxes that nobody uses then. Resolves when nothing is left; what a crash
   * leaves is removed after the next start, or when it is asked for again.
   */
  async delete(asker: Asker, id: string): Promise<void> {
    const found = await this.#find(asker.userId, id);
    if (found === null) throw conversationMissing(id);
    if (this.#deps.sandboxes === null) throw sandboxesNotServed();
    const family = await this.#family(found);
    const ids = family.map((member) => member.id);
    // Before anything is recorded or removed: the sandbox would be gone when the conversation itself is refused.
    await this.#deps.holds.requireFree(ids);
    await this.#deps.tasks.markLeaving(asker.userId, ids);
    await this.#remove(family);
  }

  /** Removes what a start has made that did not come to its end, its sandbox where it has made one. */
  async discard(asker: Asker, id: string, madeSandboxId: string | null): Promise<void> {
    const row = await this.#deps.rows.get(asker.userId, id);
    if (row !== null) await this.#removeConversation(row);
    if (madeSandboxId !== null) await this.#deps.sandboxes?.remove(asker.userId, madeSandboxId);
  }

  /** Finishes deletions that the last process began. */
  async recover(): Promise<void> {
    const { tasks, logger, sandboxes } = this.#deps;
    if (sandboxes === null) return;
    for (const leaving of await tasks.listLeaving()) {
      await this.#remove([leaving]).catch((error: unknown) => {
        logger.error({ conversation: leaving.id, error: String(error) }, "a deletion could not be finished");
      });
    }
  }

  get #sandboxes(): Sandboxes {
    if (this.#deps.sandboxes === null) throw sandboxesNotServed();
    return this.#deps.sandboxes;
  }

  async #views(
    asker: Asker,
    rows: readonly (AppConversationRow | null)[],
  ): Promise<(AppConversationView | null)[]> {
    const known = rows.filter((row) => row !== null);
    const ids = known.map(({ id }) => id);
    const sandboxIds = [...new Set(known.map(({ sandboxId }) => sandboxId))];
    const [described, sandboxes = [], subs] = await Promise.all([
      this.#deps.directory.describeMany(asker, ids),
      this.#deps.sandboxes?.getMany(asker.userId, sandboxIds),
      this.#deps.rows.subConversations(asker.userId, ids),
    ]);
    const views = known.map((row, index): [string, AppConversationView] | null => {
      const about = described[index];
      if (!about) return null;
      const sandbox = sandboxes.find((view) => view?.id === row.sandboxId) ?? null;
      const subConversationIds = subs.get(row.id)?.map((sub) => sub.id) ?? [];
      return [row.id, { row, described: about, sandbox, subConversationIds }];
    });
    const byId = new Map(views.filter((view) => view !== null));
    return rows.map((row) => (row === null ? null : (byId.get(row.id) ?? null)));
  }

  async #runningSandbox(asker: Asker, id: string): Promise<AppConversationRow> {
    const row = await this.#deps.rows.get(asker.userId, id);
    if (row === null) {
      const task = await this.#deps.tasks.ofConversation(asker.userId, id);
      if (task === null || task.status === "ERROR") throw conversationMissing(id);
      throw sandboxUnavailable("STARTING", task.detail);
    }
    const [view] = await this.#sandboxes.getMany(asker.userId, [row.sandboxId]);
    if (view?.isUnavailable === true) throw machineUnavailable();
    if (view?.status !== "RUNNING")
      throw sandboxUnavailable(view?.status ?? "MISSING", view?.statusDetail ?? null);
    return row;
  }

  /** Also one whose deletion has begun. */
  async #find(ownerId: string, id: string): Promise<Started | null> {
    return (await this.#deps.rows.get(ownerId, id)) ?? (await this.#deps.tasks.started(ownerId, id));
  }

  async #family(first: Started): Promise<Started[]> {
    const family = [first];
    for (const { ownerId, id } of family)
      family.push(...((await this.#deps.rows.subConversations(ownerId, [id])).get(id) ?? []));
    return family;
  }

  /** Sandboxes go at the same time as the conversations in them: neither has to wait for one that is frozen. */
  async #remove(family: readonly Started[]): Promise<void> {
    const { rows, tasks } = this.#deps;
    for (const { id } of family) await rows.forget(id);
    const sandboxes = Map.groupBy(family, ({ sandboxId }) => sandboxId);
    const unused: { sandboxId: string; ownerId: string }[] = [];
    for (const [sandboxId, [first]] of sandboxes) {
      const { ownerId } = first!;
      const isUsed = (await rows.isUsed(ownerId, sandboxId)) || (await tasks.isWanted(sandboxId));
      if (!isUsed) unused.push({ sandboxId, ownerId });
    }
    await Promise.all([
      ...unused.map(({ ownerId, sandboxId }) => this.#sandboxes.remove(ownerId, sandboxId)),
      ...family.map((row) => this.#removeConversation(row)),
    ]);
    for (const { id } of family) await tasks.removeOf(id);
  }

  async #removeConversation({ id, ownerId }: Pick<Started, "id" | "ownerId">): Promise<void> {
    const { directory } = this.#deps;
    const asker = { userId: ownerId };
    if (await directory.exists(asker, id)) await directory.delete(asker, id);
  }
}
