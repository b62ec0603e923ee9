import { itemsOfPages } from "../lib/items-of-pages.ts";
import type { ConversationPage, ConversationRow, SummaryQuery } from "../journal/journal.ts";
import { isOutsideScope } from "../security/key-scope.ts";
import { createMask } from "../security/mask.ts";
import type { Conversation } from "../engine/conversation.ts";
import type { Asker } from "../engine/create-input.ts";
import type { DirectoryDeps } from "./directory-deps.ts";
import { isOwnedBy } from "./is-owned-by.ts";
import type { LoadedConversations } from "./loaded-conversations.ts";
import { readConfig, unreadableConfig } from "../engine/read-config.ts";
import { secretValues, sparedTexts } from "../engine/secret-values.ts";
import type { StoredSecrets } from "../engine/stored-secrets.ts";
import { fullStateFrame, type ConversationInfoSource } from "../engine/state/conversation-info.ts";
import type { ConversationSessions } from "../tools/conversation-sessions.ts";
import { FoldedStates } from "../engine/state/folded-states.ts";
import { liveStatusFrame } from "../engine/state/live-status.ts";

export type DescriptionsDeps = Pick<DirectoryDeps, "clock" | "describeWall" | "journal" | "logger"> & {
  readonly loaded: Pick<LoadedConversations, "find" | "ownerOf">;
  readonly storedSecrets: Pick<StoredSecrets, "forShow">;
  readonly sessions: Pick<ConversationSessions, "stateDir">;
};

export type DescribedPage = { items: ConversationInfoSource[]; nextPageId: string | null };

/**
 * What clients read about conversations: from the actor if it is in this process, else from the store. Needs no
 * lease.
 */
export class Descriptions {
  readonly #deps: DescriptionsDeps;
  readonly #folded: FoldedStates;

  constructor(deps: DescriptionsDeps) {
    this.#deps = deps;
    this.#folded = new FoldedStates(deps.journal, ({ conversationId, seq }) => {
      deps.logger.warn({ conversation: conversationId, seq }, "an event is damaged");
    });
  }

  async of(row: ConversationRow): Promise<ConversationInfoSource> {
    const actor = await this.#deps.loaded.find(row.id);
    const config = actor?.configuration.config ?? readConfig(row) ?? unreadableConfig;
    return {
      id: row.id,
      title: row.title,
      createdAtMicros: row.createdAtMicros,
      updatedAtMicros: row.updatedAtMicros,
      marks: row.marks,
      persistenceDir: this.#deps.sessions.stateDir(row.id),
      config,
      wall: (await this.#deps.describeWall(config, row.id)) ?? undefined,
      secrets: actor?.configuration.secrets ?? this.#deps.storedSecrets.forShow(row),
      state: actor?.state ?? (await this.#folded.of(row)),
    };
  }

  /** In the order of `ids`; null for ids that the caller does not own. */
  async many(asker: Asker, ids: readonly string[]): Promise<(ConversationInfoSource | null)[]> {
    const rows = await this.#deps.journal.getConversations(ids);
    return await Promise.all(
      rows.map(async (row) =>
        isOwnedBy(asker, row) && !isOutsideScope(asker, row.id) ? await this.of(row) : null,
      ),
    );
  }

  /** The existing ones of the given conversations, of any owner. */
  async all(ids: readonly string[]): Promise<{ ownerId: string; described: ConversationInfoSource }[]> {
    const rows = await this.#deps.journal.getConversations(ids);
    const found = rows.filter((row) => row !== null).filter((row) => !row.isCopying);
    return await Promise.all(
      found.map(async (row) => ({ ownerId: row.ownerId, described: await this.of(row) })),
    );
  }

  /** A page of a list; who may see one conversation alone gets that one, where it is on any of the pages. */
  async page<Query extends Pick<SummaryQuery, "limit" | "pageId">>(
    { onlyConversation }: Asker,
    query: Query,
    read: (query: Query) => Promise<ConversationPage> | ConversationPage,
  ): Promise<DescribedPage> {
    if (onlyConversation === undefined) {
      const { items, nextPageId } = await read(query);
      return { items: await Promise.all(items.map((row) => this.of(row))), nextPageId };
    }
    const all = itemsOfPages(async (pageId) => await read({ ...query, limit: 100, pageId }));
    for await (const row of all)
      if (row.id === onlyConversation) return { items: [await this.of(row)], nextPageId: null };
    return { items: [], nextPageId: null };
  }

  /** The state of the caller's conversation as a socket frame; null if the caller has none with this id. */
  async liveStatusFrame(asker: Asker, id: string): Promise<string | null> {
    const actor = await this.#actorOf(asker, id);
    if (actor) return actor.published.liveFrame();
    const [described = null] = await this.many(asker, [id]);
    return described === null ? null : liveStatusFrame(described.state, 0);
  }

  /** The same with all fields that a client may see. */
  async fullStateFrame(asker: Asker, id: string): Promise<string | null> {
    const actor = await this.#actorOf(asker, id);
    if (actor) return actor.published.fullFrame();
    const [described = null] = await this.many(asker, [id]);
    if (described === null) return null;
    const { config, secrets, state } = described;
    const mask = createMask(secretValues(secrets), sparedTexts(config));
    return mask(fullStateFrame(config, secrets, state, id, this.#deps.clock.nowMs()));
  }

  /** The logs of some conversations may have changed (database set back). */
  forget(): void {
    this.#folded.clear();
  }

  /** The caller's actor, if it is in this process. */
  async #actorOf(asker: Asker, id: string): Promise<Conversation | null> {
    const { loaded } = this.#deps;
    return loaded.ownerOf(id) === asker.userId ? await loaded.find(id) : null;
  }
}
