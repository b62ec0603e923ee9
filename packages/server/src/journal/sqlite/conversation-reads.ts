import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import {
  UnknownPageError,
  type ConversationFilter,
  type ConversationPage,
  type ConversationQuery,
  type ConversationRow,
  type InboxEntry,
} from "../journal.ts";
import { maxSeq, positionOf } from "./schema.ts";

/** Reads conversation rows; lists are ranges of indexes, so a deep page costs what the first one does. */
export class ConversationReader {
  readonly #database: DatabaseSync;
  readonly #byId: StatementSync;
  readonly #inbox: StatementSync;
  readonly #active: StatementSync;
  readonly #activeElsewhere: StatementSync;
  readonly #nextStatus: StatementSync;
  readonly #statements = new Map<string, StatementSync>();

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#byId = database.prepare(`${selectRow} WHERE c.id = ?`);
    this.#inbox = database.prepare(
      `SELECT i.event_id, i.digest FROM conversations c JOIN inbox i ON i.number = c.number
       WHERE c.id = ? AND i.client_id = ?`,
    );
    this.#active = database.prepare("SELECT id FROM conversations WHERE is_active = 1 ORDER BY number");
    this.#activeElsewhere = database.prepare(
      "SELECT id, node_id FROM conversations WHERE is_active = 1 AND node_id IS NOT ? ORDER BY number",
    );
    this.#nextStatus = database.prepare(
      "SELECT min(execution_status) AS status FROM conversations WHERE execution_status > ?",
    );
  }

  get(id: string): ConversationRow | null {
    const row = this.#byId.get(id);
    return row === undefined ? null : toConversation(row as unknown as StoredRow);
  }

  getInboxEntry(conversationId: string, clientId: string): InboxEntry | null {
    const row = this.#inbox.get(conversationId, clientId);
    return row === undefined ? null : { eventId: String(row["event_id"]), digest: String(row["digest"]) };
  }

  listActive(): string[] {
    return this.#active.all().map((row) => String(row["id"]));
  }

  listActiveElsewhere(nodeId: string): { id: string; nodeId: string | null }[] {
    return this.#activeElsewhere.all(nodeId).map((row) => ({
      id: String(row["id"]),
      nodeId: row["node_id"] === null ? null : String(row["node_id"]),
    }));
  }

  count(filter: ConversationFilter): number {
    const { conditions, values } = toConditions(filter);
    const where = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
    return Number(
      this.#prepare(`SELECT count(*) AS total FROM conversations ${where}`).get(...values)?.["total"],
    );
  }

  search(query: ConversationQuery): ConversationPage {
    const statuses = query.executionStatus === undefined ? this.#statuses() : [query.executionStatus];
    if (statuses.length === 0) {
      if (query.pageId !== undefined) throw unknownPage(query.pageId);
      return { items: [], nextPageId: null };
    }
    const column = query.sort.startsWith("CREATED_AT") ? "created_at" : "updated_at";
    const isDescending = query.sort.endsWith("_DESC");
    const [at, number] = this.#pageStart(query, column, isDescending);
    const sql = pageSql(column, isDescending, query.ownerId !== undefined, statuses.length);
    const owner = query.ownerId === undefined ? [] : [query.ownerId];
    const rows = this.#prepare(sql).all(
      at,
      number,
      query.limit + 1,
      ...owner,
      ...statuses,
    ) as unknown as StoredRow[];
    return {
      items: rows.slice(0, query.limit).map(toConversation),
      nextPageId: rows[query.limit]?.id ?? null,
    };
  }

  /** The sort key the page begins with. */
  #pageStart(query: ConversationQuery, column: string, isDescending: boolean): [at: number, number: number] {
    if (query.pageId === undefined) {
      return isDescending ? [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER] : [Number.MIN_SAFE_INTEGER, 0];
    }
    const row = this.#prepare(`SELECT ${column} AS at, number, owner_id FROM conversations WHERE id = ?`).get(
      query.pageId,
    );
    // Another owner's conversation is as unknown as none.
    if (row === undefined || (query.ownerId !== undefined && row["owner_id"] !== query.ownerId)) {
      throw unknownPage(query.pageId);
    }
    return [Number(row["at"]), Number(row["number"])];
  }

  /** All statuses in use, found by jumping through the index. */
  #statuses(): string[] {
    const statuses: string[] = [];
    for (let last = ""; ;) {
      const next = this.#nextStatus.get(last)?.["status"];
      if (typeof next !== "string") return statuses;
      statuses.push(next);
      last = next;
    }
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) this.#statements.set(sql, (statement = this.#database.prepare(sql)));
    return statement;
  }
}

/** The last position of a table in the range of conversation `c`. */
function lastPosition(table: string): string {
  const start = `c.number * ${positionOf(1, 0)}`;
  return `ifnull((SELECT position FROM ${table} WHERE position BETWEEN ${start} + 1 AND ${start} + ${maxSeq}
                  ORDER BY position DESC LIMIT 1) - ${start}, 0)`;
}

const selectRow = `
  SELECT c.id, c.owner_id, c.execution_status, c.is_active, c.created_at, c.updated_at, c.title,
         d.config, d.sealed_secrets, d.snapshot, d.snapshot_seq,
         max(${lastPosition("events")}, ${lastPosition("recent")}) AS last_seq
  FROM conversations c JOIN conversation_documents d ON d.number = c.number`;

/**
 * Parameters: sort key, number, limit, owner if any, statuses. Each status is one index range; SQLite merges them lazily, and
 * the long texts are read for the rows of the page only.
 */
function pageSql(column: string, isDescending: boolean, hasOwner: boolean, statusCount: number): string {
  const [compare, direction] = isDescending ? ["<=", "DESC"] : [">=", "ASC"];
  const ranges = Array.from({ length: statusCount }, (_, index) => {
    const owner = hasOwner ? "owner_id = ?4 AND " : "";
    const status = `execution_status = ?${index + (hasOwner ? 5 : 4)}`;
    return `SELECT number, ${column} AS at FROM conversations
            WHERE ${owner}${status} AND (${column}, number) ${compare} (?1, ?2)`;
  });
  return `
    WITH page AS (${ranges.join(" UNION ALL ")} ORDER BY at ${direction}, number ${direction} LIMIT ?3)
    ${selectRow} JOIN page ON page.number = c.number ORDER BY page.at ${direction}, page.number ${direction}`;
}

function toConditions(filter: ConversationFilter): { conditions: string[]; values: SQLInputValue[] } {
  const conditions: string[] = [];
  const values: SQLInputValue[] = [];
  if (filter.ownerId !== undefined) {
    conditions.push("owner_id = ?");
    values.push(filter.ownerId);
  }
  if (filter.executionStatus !== undefined) {
    conditions.push("execution_status = ?");
    values.push(filter.executionStatus);
  }
  return { conditions, values };
}

type StoredRow = {
  readonly id: string;
  readonly owner_id: string;
  readonly execution_status: string;
  readonly is_active: number;
  readonly created_at: number;
  readonly updated_at: number;
  readonly title: string | null;
  readonly config: string;
  readonly sealed_secrets: string | null;
  readonly snapshot: string | null;
  readonly snapshot_seq: number;
  readonly last_seq: number;
};

function toConversation(row: StoredRow): ConversationRow {
  return {
    id: row.id,
    ownerId: row.owner_id,
    executionStatus: row.execution_status,
    isActive: row.is_active === 1,
    createdAtMicros: row.created_at,
    updatedAtMicros: row.updated_at,
    title: row.title,
    config: row.config,
    sealedSecrets: row.sealed_secrets,
    snapshot: row.snapshot,
    snapshotSeq: row.snapshot_seq,
    lastSeq: row.last_seq,
  };
}

function unknownPage(pageId: string): UnknownPageError {
  return new UnknownPageError(`There is no conversation ${pageId} to start the page at`);
}
