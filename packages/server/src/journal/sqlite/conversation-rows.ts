import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import type { ConversationRow } from "../journal.ts";
import { isStorageFault, unlessDamaged, maxSeq, positionOf } from "./schema.ts";
import { conversationColumns, toConversation, type StoredConversation } from "../stored-conversation.ts";
import { CachedStatements } from "../../database/cached-statements.ts";

/** Selects `number` and `at` of the rows of a page, from indexes alone, and says how `page` is ordered. */
export type PageSql = { readonly page: string; readonly order: string };

/**
 * Reads whole rows of conversations. What of one is damaged takes no other away: a row without its documents is a conversation whose
 * configuration is damaged, one whose events cannot be read ends where {@link LogEnds} says, and one that is gone is in no list.
 */
export class ConversationRows {
  readonly #endOf: (conversationId: string) => number | null;
  readonly #byId: StatementSync;
  readonly #statements: CachedStatements;

  constructor(database: DatabaseSync, endOf: (conversationId: string) => number | null) {
    this.#statements = new CachedStatements(database, { max: maxStatements });
    this.#endOf = endOf;
    this.#byId = database.prepare(`${select(documents, ends)} WHERE c.id = ?`);
  }

  get(id: string): ConversationRow | null {
    const read = (): ConversationRow | null => {
      const row = this.#byId.get(id) as unknown as StoredRow | undefined;
      return row === undefined ? null : this.#toConversation(row);
    };
    return unlessDamaged(read, () => this.#getDamaged(id));
  }

  list({ page, order }: PageSql, values: readonly SQLInputValue[]): ConversationRow[] {
    const from = `WITH page AS (${page})`;
    try {
      const sql = `${from} ${select(documents, ends)} JOIN page ON page.number = c.number ORDER BY ${order}`;
      const rows = this.#statements.get(sql).all(...values) as unknown as StoredRow[];
      return rows.map((row) => this.#toConversation(row));
    } catch (error) {
      if (!isStorageFault(error)) throw error;
    }
    const numbers = this.#statements.get(`${from} SELECT number FROM page ORDER BY ${order}`).all(...values);
    return numbers.flatMap((found) => this.#getNumbered(Number(found["number"])) ?? []);
  }

  #getNumbered(number: number): ConversationRow | null {
    const read = (): ConversationRow | null => {
      const id = this.#statements.get("SELECT id FROM conversations WHERE number = ?").get(number)?.["id"];
      return typeof id === "string" ? this.get(id) : null;
    };
    // Nothing of it can be read.
    return unlessDamaged(read, () => null);
  }

  #getDamaged(id: string): ConversationRow | null {
    for (const from of [documents, noDocuments]) {
      try {
        const row = this.#statements
          .get(`${select(from, noEnds)} WHERE c.id = ?`)
          .get(id) as unknown as StoredRow;
        return row === undefined ? null : { ...toConversation(row), lastSeq: this.#endOf(id) ?? 0 };
      } catch (error) {
        if (!isStorageFault(error) || from === noDocuments) throw error;
      }
    }
    return null;
  }

  /** A row that proves more events than were found, or far fewer, is asked about. */
  #toConversation(row: StoredRow): ConversationRow {
    const { lastSeq: found, snapshotSeq: proven } = row;
    const isSound = found >= proven && found - proven < maxUnproven;
    return toConversation(isSound ? row : { ...row, lastSeq: this.#endOf(row.id) ?? 0 });
  }
}

/** Filters can be put together in thousands of ways; a page asks in a few. */
const maxStatements = 64;

/** Rows are written with their state now and then: this is far more than that. */
const maxUnproven = 4_096;

/** The last position of a table in the range of conversation `c`. */
function lastPosition(table: string): string {
  const start = `c.number * ${positionOf(1, 0)}`;
  return `ifnull((SELECT position FROM ${table} WHERE position BETWEEN ${start} + 1 AND ${start} + ${maxSeq}
                  ORDER BY position DESC LIMIT 1) - ${start}, 0)`;
}

type Columns = { readonly columns: string; readonly from: string };

const documents: Columns = {
  columns: `ifnull(d.config, '') AS config, d.sealed_secrets AS "sealedSecrets", d.snapshot,
    iif(typeof(d.snapshot_seq) = 'integer', d.snapshot_seq, 0) AS "snapshotSeq"`,
  from: "LEFT JOIN conversation_documents d ON d.number = c.number",
};
const noDocuments: Columns = {
  columns: `'' AS config, NULL AS "sealedSecrets", NULL AS snapshot, 0 AS "snapshotSeq"`,
  from: "",
};
const ends = `max(${lastPosition("events")}, ${lastPosition("recent")}) AS "lastSeq"`;
const noEnds = '0 AS "lastSeq"';

function select(from: Columns, lastSeq: string): string {
  return `
    SELECT ${conversationColumns}, c.app_facts AS "appFacts", c.is_active AS "isActive", c.updated_at AS "updatedAtMicros",
           ${from.columns}, ${lastSeq}
    FROM conversations c ${from.from}`;
}

type StoredRow = StoredConversation<number>;
