import type { ApplicationDatabase } from "../database/application-database.ts";

/** A conversation in the trash. */
export type Trashed = {
  readonly conversationId: string;
  readonly userId: string;
  readonly title: string | null;
  readonly reason: string;
  readonly trashedAtMs: number;
  readonly endsAtMs: number;
};

type Row = {
  readonly conversation_id: string;
  readonly user_id: string;
  readonly title: string | null;
  readonly reason: string;
  readonly trashed_at: number;
  readonly ends_at: number;
};

/** What is known about the conversations in the trash beside their logs. */
export class TrashStore {
  readonly #database: ApplicationDatabase;

  constructor(database: ApplicationDatabase) {
    this.#database = database;
  }

  async get(conversationId: string): Promise<Trashed | null> {
    const query = this.#database.tables
      .selectFrom("trashed_conversations")
      .selectAll()
      .where("conversation_id", "=", conversationId);
    const row = await query.executeTakeFirst();
    return row === undefined ? null : toTrashed(row);
  }

  /** The trash of a user, the newest first, from behind one of its entries. */
  async list(userId: string, limit: number, after: Trashed | null = null): Promise<Trashed[]> {
    let query = this.#database.tables
      .selectFrom("trashed_conversations")
      .selectAll()
      .where("user_id", "=", userId);
    if (after !== null)
      query = query.where((is) =>
        is.or([
          is("trashed_at", "<", after.trashedAtMs),
          is.and([
            is("trashed_at", "=", after.trashedAtMs),
            is("conversation_id", "<", after.conversationId),
          ]),
        ]),
      );
    const rows = await query
      .orderBy("trashed_at", "desc")
      .orderBy("conversation_id", "desc")
      .limit(limit)
      .execute();
    return rows.map(toTrashed);
  }

  /** Those whose time is over, the oldest first, from behind one of them. */
  async listDue(nowMs: number, limit: number, after: Trashed | null = null): Promise<Trashed[]> {
    let query = this.#database.tables
      .selectFrom("trashed_conversations")
      .selectAll()
      .where("ends_at", "<=", nowMs);
    if (after !== null)
      query = query.where((is) =>
        is.or([
          is("ends_at", ">", after.endsAtMs),
          is.and([is("ends_at", "=", after.endsAtMs), is("conversation_id", ">", after.conversationId)]),
        ]),
      );
    const rows = await query.orderBy("ends_at").orderBy("conversation_id").limit(limit).execute();
    return rows.map(toTrashed);
  }

  async add(entry: Trashed): Promise<void> {
    await this.#database.tables
      .insertInto("trashed_conversations")
      .values({
        conversation_id: entry.conversationId,
        user_id: entry.userId,
        title: entry.title,
        reason: entry.reason,
        trashed_at: entry.trashedAtMs,
        ends_at: entry.endsAtMs,
      })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }

  async remove(conversationId: string): Promise<void> {
    await this.#database.tables
      .deleteFrom("trashed_conversations")
      .where("conversation_id", "=", conversationId)
      .execute();
  }
}

function toTrashed(row: Row): Trashed {
  return {
    conversationId: row.conversation_id,
    userId: row.user_id,
    title: row.title,
    reason: row.reason,
    trashedAtMs: row.trashed_at,
    endsAtMs: row.ends_at,
  };
}
