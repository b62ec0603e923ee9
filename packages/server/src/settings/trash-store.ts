import type { ApplicationDatabase } from "../database/application-database.ts";

import type { Selectable } from "kysely";
import { addRow, removeRows, rowsWith } from "../database/rows.ts";
import type { Tables } from "../database/tables.ts";

/** A conversation in the trash. */
export type Trashed = Selectable<Tables["trashed_conversations"]>;

/** What is known about the conversations in the trash beside their logs. */
export class TrashStore {
  readonly #database: ApplicationDatabase;

  constructor(database: ApplicationDatabase) {
    this.#database = database;
  }

  async get(conversationId: string): Promise<Trashed | null> {
    const wanted = { conversation_id: conversationId };
    return (
      (await rowsWith(this.#database.tables, "trashed_conversations", wanted).executeTakeFirst()) ?? null
    );
  }

  /** The trash of a user, the newest first, from behind one of its entries. */
  async list(userId: string, limit: number, after: Trashed | null = null): Promise<Trashed[]> {
    let query = rowsWith(this.#database.tables, "trashed_conversations", { user_id: userId });
    if (after !== null)
      query = query.where((is) =>
        is(
          is.refTuple("trashed_at", "conversation_id"),
          "<",
          is.tuple(after.trashed_at, after.conversation_id),
        ),
      );
    return await query
      .orderBy("trashed_at", "desc")
      .orderBy("conversation_id", "desc")
      .limit(limit)
      .execute();
  }

  /** Those whose time is over, the oldest first, from behind one of them. */
  async listDue(nowMs: number, limit: number, after: Trashed | null = null): Promise<Trashed[]> {
    let query = rowsWith(this.#database.tables, "trashed_conversations", {}).where("ends_at", "<=", nowMs);
    if (after !== null)
      query = query.where((is) =>
        is(is.refTuple("ends_at", "conversation_id"), ">", is.tuple(after.ends_at, after.conversation_id)),
      );
    return await query.orderBy("ends_at").orderBy("conversation_id").limit(limit).execute();
  }

  /** One that is there already stays as it is. */
  async add(entry: Trashed): Promise<void> {
    await addRow(this.#database.tables, "trashed_conversations", entry);
  }

  async remove(conversationId: string): Promise<void> {
    await removeRows(this.#database.tables, "trashed_conversations", { conversation_id: conversationId });
  }
}
