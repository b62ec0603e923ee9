import { readConfig } from "../engine/read-config.ts";
import type {
  AppConversationFilter,
  AppConversationQuery,
  ConversationRow,
  Journal,
} from "../journal/journal.ts";
import type { AppFacts } from "./start-order.ts";
import { itemsOfPages } from "../lib/items-of-pages.ts";

/** What is known of a conversation in a sandbox besides its log. */
export type AppConversationRow = {
  readonly id: string;
  readonly ownerId: string;
  readonly sandboxId: string;
  readonly parentId: string | null;
  /** Absolute, as tools in the sandbox see it; empty where the configuration is damaged. */
  readonly workingDir: string;
  readonly facts: AppFacts;
  readonly createdAtMs: number;
  readonly title: string | null;
  readonly updatedAtMicros: number;
};

export type AppFactsChange = Partial<
  Pick<AppFacts, "isPublic" | "selectedRepository" | "selectedBranch" | "gitProvider">
>;

/** What a row needs of the journal. */
export type AppConversationJournal = Pick<
  Journal,
  "countAppConversations" | "getConversations" | "markConversation" | "searchAppConversations"
>;

/** How many sub-conversations are read in one go. */
const chunk = 250;

/** Which conversations the app has started in sandboxes: those with facts in their row of the journal. */
export class AppConversationStore {
  readonly #journal: AppConversationJournal;

  constructor(journal: AppConversationJournal) {
    this.#journal = journal;
  }

  async update(id: string, change: AppFactsChange): Promise<void> {
    if (Object.keys(change).length > 0)
      await this.#journal.markConversation(id, { appFacts: JSON.stringify(change) });
  }

  /** Gives facts to a conversation that has none. */
  async adopt(id: string, facts: string): Promise<void> {
    const [row] = await this.#journal.getConversations([id]);
    if (row?.appFacts === null) await this.#journal.markConversation(id, { appFacts: facts });
  }

  /** From here on it is in no list of the app; what belongs to it can be removed. */
  async forget(id: string): Promise<void> {
    await this.#journal.markConversation(id, { appFacts: null });
  }

  async get(ownerId: string, id: string): Promise<AppConversationRow | null> {
    const [row] = await this.getMany(ownerId, [id]);
    return row ?? null;
  }

  /** In the order of `ids`, null for misses and for those of others. */
  async getMany(ownerId: string, ids: readonly string[]): Promise<(AppConversationRow | null)[]> {
    const rows = await this.#journal.getConversations(ids);
    return rows.map((row) =>
      row !== null && row.ownerId === ownerId && row.appFacts !== null && !row.isCopying ? toRow(row) : null,
    );
  }

  /** By creation. */
  async scan(
    query: AppConversationQuery,
  ): Promise<{ items: AppConversationRow[]; nextPageId: string | null }> {
    const { items, nextPageId } = await this.#journal.searchAppConversations(query);
    return { items: items.map(toRow), nextPageId };
  }

  async count(filter: AppConversationFilter): Promise<number> {
    return await this.#journal.countAppConversations(filter);
  }

  /** Those directly below each of these. */
  async subConversations(
    ownerId: string,
    parentIds: readonly string[],
  ): Promise<ReadonlyMap<string, readonly AppConversationRow[]>> {
    if (parentIds.length === 0) return new Map();
    const query = { ownerId, parentIds, sort: "CREATED_AT", limit: chunk } as const;
    const found = itemsOfPages((pageId) => this.#journal.searchAppConversations({ ...query, pageId }));
    return Map.groupBy(await Array.fromAsync(found, toRow), (row) => row.parentId!);
  }

  /** Whether a conversation that stays is in this sandbox. */
  async isUsed(ownerId: string, sandboxId: string): Promise<boolean> {
    return (await this.#journal.countAppConversations({ ownerId, sandboxId })) > 0;
  }
}

/** As they stand in the row. */
export function writeFacts(facts: AppFacts, parentId: string | null): string {
  return JSON.stringify({ ...facts, parent_id: parentId });
}

/** A field that was set to null may be gone. */
type StoredFacts = { readonly parent_id?: string | null } & {
  readonly [Key in keyof AppFacts]?: AppFacts[Key];
};

function readFacts(text: string): StoredFacts {
  try {
    return JSON.parse(text) as StoredFacts;
  } catch {
    // Damaged: the conversation is listed all the same.
    return {};
  }
}

function toRow(row: ConversationRow): AppConversationRow {
  const facts = readFacts(row.appFacts ?? "{}");
  return {
    id: row.id,
    ownerId: row.ownerId,
    sandboxId: row.sandboxId ?? "",
    parentId: facts.parent_id ?? null,
    workingDir: readConfig(row)?.workspace.working_dir ?? "",
    facts: {
      selectedRepository: facts.selectedRepository ?? null,
      selectedBranch: facts.selectedBranch ?? null,
      gitProvider: facts.gitProvider ?? null,
      trigger: facts.trigger ?? null,
      prNumbers: facts.prNumbers ?? [],
      isPublic: facts.isPublic ?? null,
    },
    createdAtMs: Math.floor(row.createdAtMicros / 1000),
    title: row.title,
    updatedAtMicros: row.updatedAtMicros,
  };
}
