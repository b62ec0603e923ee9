import type { ProviderType } from "@convoke/protocol";
import type { Selectable } from "kysely";
import type { ApplicationDatabase } from "../database/application-database.ts";
import type { AppConversationTable } from "../database/tables.ts";
import type { AppFacts } from "./start-order.ts";

/** What is known of a conversation in a sandbox besides its log. */
export type AppConversationRow = {
  readonly id: string;
  readonly ownerId: string;
  readonly sandboxId: string;
  readonly parentId: string | null;
  /** Absolute, as tools in the sandbox see it. */
  readonly workingDir: string;
  readonly facts: AppFacts;
  readonly createdAtMs: number;
};

export type AppConversationFilter = {
  readonly ownerId: string;
  readonly sandboxId?: string;
  readonly createdGteMs?: number;
  readonly createdLtMs?: number;
  /** Those below another conversation too. */
  readonly withSubConversations: boolean;
};

/** A place in the list: between two conversations of the same instant the id decides. */
export type AppConversationPlace = Pick<AppConversationRow, "createdAtMs" | "id">;

export type AppConversationScan = AppConversationFilter & {
  readonly isNewestFirst: boolean;
  /** The first one of the answer, unless it is excluded by a filter. */
  readonly from: AppConversationPlace | null;
  readonly limit: number;
};

export type AppFactsChange = Partial<
  Pick<AppFacts, "isPublic" | "selectedRepository" | "selectedBranch" | "gitProvider">
>;

/** Which conversations have a sandbox: durable when a promise resolves. Those that are being deleted are not there. */
export class AppConversationStore {
  readonly #database: ApplicationDatabase;

  constructor(database: ApplicationDatabase) {
    this.#database = database;
  }

  get #tables() {
    return this.#database.tables;
  }

  /** Does nothing when it is there. */
  async insert(row: AppConversationRow): Promise<void> {
    const { facts } = row;
    await this.#tables
      .insertInto("app_conversations")
      .values({
        id: row.id,
        owner_id: row.ownerId,
        sandbox_id: row.sandboxId,
        parent_id: row.parentId,
        working_dir: row.workingDir,
        selected_repository: facts.selectedRepository,
        selected_branch: facts.selectedBranch,
        git_provider: facts.gitProvider,
        trigger_name: facts.trigger,
        pr_numbers: JSON.stringify(facts.prNumbers),
        is_public: toNumber(facts.isPublic),
        is_leaving: 0,
        created_at: row.createdAtMs,
      })
      .onConflict((conflict) => conflict.column("id").doNothing())
      .execute();
  }

  async update(id: string, change: AppFactsChange): Promise<void> {
    const columns = {
      ...(change.isPublic === undefined ? {} : { is_public: toNumber(change.isPublic) }),
      ...(change.selectedRepository === undefined ? {} : { selected_repository: change.selectedRepository }),
      ...(change.selectedBranch === undefined ? {} : { selected_branch: change.selectedBranch }),
      ...(change.gitProvider === undefined ? {} : { git_provider: change.gitProvider }),
    };
    if (Object.keys(columns).length === 0) return;
    await this.#tables.updateTable("app_conversations").set(columns).where("id", "=", id).execute();
  }

  async get(ownerId: string, id: string): Promise<AppConversationRow | null> {
    const [row] = await this.getMany(ownerId, [id]);
    return row ?? null;
  }

  /** In the order of `ids`, null for misses and for those of others. */
  async getMany(ownerId: string, ids: readonly string[]): Promise<(AppConversationRow | null)[]> {
    // PostgreSQL knows no empty list.
    if (ids.length === 0) return [];
    const rows = await this.#tables
      .selectFrom("app_conversations")
      .selectAll()
      .where("owner_id", "=", ownerId)
      .where("is_leaving", "=", 0)
      .where("id", "in", [...ids])
      .execute();
    const byId = new Map(rows.map((row) => [row.id, toRow(row)]));
    return ids.map((id) => byId.get(id) ?? null);
  }

  /** By creation. */
  async scan({ isNewestFirst, from, limit, ...filter }: AppConversationScan): Promise<AppConversationRow[]> {
    const direction = isNewestFirst ? "desc" : "asc";
    let query = this.#filtered(filter).selectAll();
    if (from !== null) {
      query = query.where((where) =>
        where.or([
          where("created_at", isNewestFirst ? "<" : ">", from.createdAtMs),
          where.and([
            where("created_at", "=", from.createdAtMs),
            where("id", isNewestFirst ? "<=" : ">=", from.id),
          ]),
        ]),
      );
    }
    const rows = await query.orderBy("created_at", direction).orderBy("id", direction).limit(limit).execute();
    return rows.map(toRow);
  }

  async count(filter: AppConversationFilter): Promise<number> {
    const { number } = await this.#filtered(filter)
      .select((select) => select.fn.countAll<number>().as("number"))
      .executeTakeFirstOrThrow();
    return number;
  }

  /** Ids of those directly below each of these. */
  async subConversations(parentIds: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
    if (parentIds.length === 0) return new Map();
    const rows = await this.#tables
      .selectFrom("app_conversations")
      .select(["id", "parent_id"])
      .where("is_leaving", "=", 0)
      .where("parent_id", "in", [...parentIds])
      .orderBy("created_at")
      .execute();
    return Map.groupBy(rows, (row) => row.parent_id!)
      .entries()
      .reduce(
        (map, [parent, subs]) =>
          map.set(
            parent,
            subs.map(({ id }) => id),
          ),
        new Map<string, string[]>(),
      );
  }

  /** Whether a conversation that stays is in this sandbox. */
  async isUsed(sandboxId: string): Promise<boolean> {
    const row = await this.#tables
      .selectFrom("app_conversations")
      .select("id")
      .where("sandbox_id", "=", sandboxId)
      .where("is_leaving", "=", 0)
      .executeTakeFirst();
    return row !== undefined;
  }

  /** Also one whose deletion has begun, so that it can be asked for again. */
  async find(ownerId: string, id: string): Promise<AppConversationRow | null> {
    const row = await this.#tables
      .selectFrom("app_conversations")
      .selectAll()
      .where("id", "=", id)
      .where("owner_id", "=", ownerId)
      .executeTakeFirst();
    return row === undefined ? null : toRow(row);
  }

  /** From here on it is not there any more; what belongs to it can be removed. */
  async markLeaving(id: string): Promise<void> {
    await this.#tables.updateTable("app_conversations").set({ is_leaving: 1 }).where("id", "=", id).execute();
  }

  async listLeaving(): Promise<AppConversationRow[]> {
    const rows = await this.#tables
      .selectFrom("app_conversations")
      .selectAll()
      .where("is_leaving", "=", 1)
      .execute();
    return rows.map(toRow);
  }

  async remove(id: string): Promise<void> {
    await this.#tables.deleteFrom("app_conversations").where("id", "=", id).execute();
  }

  #filtered(filter: AppConversationFilter) {
    const { ownerId, sandboxId, createdGteMs, createdLtMs, withSubConversations } = filter;
    let query = this.#tables
      .selectFrom("app_conversations")
      .where("owner_id", "=", ownerId)
      .where("is_leaving", "=", 0);
    if (sandboxId !== undefined) query = query.where("sandbox_id", "=", sandboxId);
    if (createdGteMs !== undefined) query = query.where("created_at", ">=", createdGteMs);
    if (createdLtMs !== undefined) query = query.where("created_at", "<", createdLtMs);
    if (!withSubConversations) query = query.where("parent_id", "is", null);
    return query;
  }
}

function toRow(row: Selectable<AppConversationTable>): AppConversationRow {
  return {
    id: row.id,
    ownerId: row.owner_id,
    sandboxId: row.sandbox_id,
    parentId: row.parent_id,
    workingDir: row.working_dir,
    facts: {
      selectedRepository: row.selected_repository,
      selectedBranch: row.selected_branch,
      gitProvider: row.git_provider as ProviderType | null,
      trigger: row.trigger_name,
      prNumbers: JSON.parse(row.pr_numbers) as number[],
      isPublic: row.is_public === null ? null : row.is_public === 1,
    },
    createdAtMs: row.created_at,
  };
}

function toNumber(value: boolean | null): number | null {
  return value === null ? null : Number(value);
}
