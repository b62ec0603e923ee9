import type { ApplicationDatabase } from "../database/application-database.ts";
import { putRow, rowsWith } from "../database/rows.ts";

const id = "events";

/** Until when the events of all conversations were looked through, on every node of a store. */
export class EventCursor {
  readonly #database: ApplicationDatabase;

  constructor(database: ApplicationDatabase) {
    this.#database = database;
  }

  /** In epoch milliseconds; null before the first time. */
  async load(): Promise<number | null> {
    const [row] = await this.#database.read(rowsWith(this.#database.tables, "automation_cursors", { id }));
    return row?.at_ms ?? null;
  }

  async save(atMs: number): Promise<void> {
    await putRow(this.#database.tables, "automation_cursors", { id, at_ms: atMs });
  }
}
