import type { ApplicationDatabase } from "../database/application-database.ts";
import { addRow, removeRows, rowsWith } from "../database/rows.ts";

/** The cursor of a receiver in a conversation. */
export type Cursor = { readonly seq: number; readonly infoSeq: number; readonly isDeleted: boolean };

/** The cursors of one receiver, in the application's tables. */
export class CursorStore {
  readonly #database: ApplicationDatabase;
  readonly #hookId: string;

  constructor(database: ApplicationDatabase, hookId: string) {
    this.#database = database;
    this.#hookId = hookId;
  }

  /** Since when the receiver is known, in epoch milliseconds; `nowMs` when it is new. */
  async since(nowMs: number): Promise<number> {
    const { tables } = this.#database;
    await addRow(tables, "webhooks", { id: this.#hookId, since_ms: nowMs });
    return (await rowsWith(tables, "webhooks", { id: this.#hookId }).executeTakeFirstOrThrow()).since_ms;
  }

  async load(conversationId: string): Promise<Cursor> {
    const wanted = { hook_id: this.#hookId, conversation_id: conversationId };
    const row = await rowsWith(this.#database.tables, "webhook_cursors", wanted).executeTakeFirst();
    if (row === undefined) return { seq: 0, infoSeq: -1, isDeleted: false };
    return { seq: row.seq, infoSeq: row.info_seq, isDeleted: row.is_deleted === 1 };
  }

  /** Does not change the deletion mark, which is set elsewhere at any time. */
  async save(conversationId: string, { seq, infoSeq }: Cursor): Promise<void> {
    const values = { seq, info_seq: infoSeq };
    await this.#database.tables
      .insertInto("webhook_cursors")
      .values({ hook_id: this.#hookId, conversation_id: conversationId, ...values, is_deleted: 0 })
      .onConflict((conflict) => conflict.columns(["hook_id", "conversation_id"]).doUpdateSet(values))
      .execute();
  }

  async markDeleted(conversationId: string): Promise<void> {
    const values = { hook_id: this.#hookId, conversation_id: conversationId, seq: 0, info_seq: -1 };
    await this.#database.tables
      .insertInto("webhook_cursors")
      .values({ ...values, is_deleted: 1 })
      .onConflict((conflict) =>
        conflict.columns(["hook_id", "conversation_id"]).doUpdateSet({ is_deleted: 1 }),
      )
      .execute();
  }

  async remove(conversationId: string): Promise<void> {
    const wanted = { hook_id: this.#hookId, conversation_id: conversationId };
    await removeRows(this.#database.tables, "webhook_cursors", wanted);
  }

  /** Deleted conversations whose deletion was not posted yet. */
  async listDeleted(): Promise<string[]> {
    const wanted = { hook_id: this.#hookId, is_deleted: 1 };
    const rows = await rowsWith(this.#database.tables, "webhook_cursors", wanted).execute();
    return rows.map((row) => row.conversation_id);
  }
}
