import type { ApplicationDatabase } from "../database/application-database.ts";

const id = "events";

/** Until when the events of all conversations were looked through, on every node of a store. */
export class EventCursor {
  readonly #database: ApplicationDatabase;

  constructor(database: ApplicationDatabase) {
    this.#database = database;
  }

  /** In epoch milliseconds; null before the first time. */
  async load(): Promise<number | null> {
    const query = this.#database.tables.selectFrom("automation_cursors").select("at_ms").where("id", "=", id);
    const [row] = await this.#database.read(query);
    return row?.at_ms ?? null;
  }

  async save(atMs: number): Promise<void> {
    await this.#database.tables
      .insertInto("automation_cursors")
      .values({ id, at_ms: atMs })
      .onConflict((conflict) => conflict.column("id").doUpdateSet({ at_ms: atMs }))
      .execute();
  }
}
