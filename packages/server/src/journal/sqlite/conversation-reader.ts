import type { DatabaseSync, StatementSync } from "node:sqlite";
import {
  UnknownPageError,
  type ConversationFilter,
  type ConversationPage,
  type ConversationQuery,
  type ConversationRow,
  type InboxEntry,
  type NotedEntry,
} from "../journal.ts";
import type { ConversationRows, PageSql } from "./conversation-rows.ts";
import { CachedStatements } from "../../database/cached-statements.ts";

/** Reads conversation rows; lists are ranges of indexes, so a deep page costs what the first one does. */
export class ConversationReader {
  readonly #rows: ConversationRows;
  readonly #owner: StatementSync;
  readonly #inbox: StatementSync;
  readonly #wholeInbox: StatementSync;
  readonly #activeElsewhere: StatementSync;
  readonly #activeHere: StatementSync;
  readonly #nextStatus: StatementSync;
  readonly #statements: CachedStatements;

  constructor(database: DatabaseSync, rows: ConversationRows) {
    this.#statements = new CachedStatements(database);
    this.#rows = rows;
    this.#owner = database.prepare("SELECT owner_id FROM conversations WHERE id = ? AND is_copying = 0");
    this.#inbox = database.prepare(
      `SELECT i.event_id AS "eventId", i.digest FROM conversations c JOIN inbox i ON i.number = c.number
       WHERE c.id = ? AND i.client_id = ?`,
    );
    this.#wholeInbox = database.prepare(
      `SELECT i.client_id AS "clientId", i.event_id AS "eventId", i.digest
       FROM conversations c JOIN inbox i ON i.number = c.number WHERE c.id = ?`,
    );
    this.#activeElsewhere = database.prepare(
      `SELECT id, node_id AS "nodeId" FROM conversations WHERE is_active = 1 AND node_id IS NOT ? ORDER BY number`,
    );
    this.#activeHere = database.prepare(
      "SELECT id FROM conversations WHERE is_active = 1 AND node_id = ? ORDER BY number",
    );
    this.#nextStatus = database.prepare(
      "SELECT min(execution_status) AS status FROM conversations WHERE execution_status > ?",
    );
  }

  get(id: string): ConversationRow | null {
    return this.#rows.get(id);
  }

  ownerOf(id: string): string | null {
    const row = this.#owner.get(id);
    return row === undefined ? null : String(row["owner_id"]);
  }

  getInboxEntry(conversationId: string, clientId: string): InboxEntry | null {
    return (this.#inbox.get(conversationId, clientId) as InboxEntry | undefined) ?? null;
  }

  listInbox(conversationId: string): NotedEntry[] {
    return this.#wholeInbox.all(conversationId) as NotedEntry[];
  }

  listActiveElsewhere(nodeId: string): { id: string; nodeId: string | null }[] {
    return this.#activeElsewhere.all(nodeId) as { id: string; nodeId: string | null }[];
  }

  listActiveHere(nodeId: string): string[] {
    return this.#activeHere.all(nodeId).map((row) => String(row["id"]));
  }

  count(filter: ConversationFilter): number {
    const { ownerId, sandboxId, executionStatus } = filter;
    const given = toScope({ owner_id: ownerId, sandbox_id: sandboxId, execution_status: executionStatus });
    const conditions = given.map(([column]) => `${column} = ?`);
    const countWhere = (...more: string[]): number => {
      const all = [...conditions, ...more];
      const where = all.length === 0 ? "" : `WHERE ${all.join(" AND ")}`;
      const sql = `SELECT count(*) AS total FROM conversations ${where}`;
      return Number(this.#statements.get(sql).get(...given.map(([, value]) => value))?.["total"]);
    };
    // Two ranges of indexes: whether a conversation is a fork in the making stands in its row only.
    return countWhere() - countWhere("is_copying = 1");
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
    const given = toScope({ owner_id: query.ownerId, sandbox_id: query.sandboxId });
    const scope = given.map(([name]) => name);
    const sql = pageSql({ column, isDescending, scope, statusCount: statuses.length });
    const scopeValues = given.map(([, value]) => value);
    const rows = this.#rows.list(sql, [at, number, query.limit + 1, ...scopeValues, ...statuses]);
    return { items: rows.slice(0, query.limit), nextPageId: rows[query.limit]?.id ?? null };
  }

  /** The sort key the page begins with. */
  #pageStart(query: ConversationQuery, column: string, isDescending: boolean): [at: number, number: number] {
    if (query.pageId === undefined) {
      return isDescending ? [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER] : [Number.MIN_SAFE_INTEGER, 0];
    }
    const { ownerId, sandboxId, pageId } = query;
    const row = this.#statements
      .get(`SELECT ${column} AS at, number, owner_id, sandbox_id FROM conversations WHERE id = ?`)
      .get(pageId);
    // Another owner's conversation is as unknown as none.
    if (row === undefined || (ownerId !== undefined && row["owner_id"] !== ownerId))
      throw unknownPage(pageId);
    if (sandboxId !== undefined && row["sandbox_id"] !== sandboxId) throw unknownPage(pageId);
    return [Number(row["at"]), Number(row["number"])];
  }

  /** All statuses in use, found by jumping through the index. */
  #statuses(): string[] {
    const statuses: string[] = [];
    for (let last = ""; ;) {
      const next = this.#nextStatus.get(last)?.["status"];
      // The index of a damaged store may give what it was not asked for.
      if (typeof next !== "string" || next <= last) return statuses;
      statuses.push(next);
      last = next;
    }
  }
}

type PageShape = {
  readonly column: string;
  readonly isDescending: boolean;
  readonly scope: readonly string[];
  readonly statusCount: number;
};

/**
 * Parameters: sort key, number, limit, a value for each column of the scope, statuses. Each status is one index range; SQLite
 * merges them lazily, and the long texts are read for the rows of the page only.
 */
function pageSql({ column, isDescending, scope, statusCount }: PageShape): PageSql {
  const [compare, direction] = isDescending ? ["<=", "DESC"] : [">=", "ASC"];
  const within = scope.map((name, index) => `${name} = ?${index + 4} AND `).join("");
  const ranges = Array.from({ length: statusCount }, (_, index) => {
    const status = `execution_status = ?${index + 4 + scope.length}`;
    return `SELECT number, ${column} AS at FROM conversations
            WHERE ${within}${status} AND (${column}, number) ${compare} (?1, ?2) AND is_copying = 0`;
  });
  const page = `${ranges.join(" UNION ALL ")} ORDER BY at ${direction}, number ${direction} LIMIT ?3`;
  return { page, order: `page.at ${direction}, page.number ${direction}` };
}

/** What of it is asked for. */
function toScope(filter: Readonly<Record<string, string | undefined>>): [column: string, value: string][] {
  return Object.entries(filter).flatMap(([column, value]) => (value === undefined ? [] : [[column, value]]));
}

export function unknownPage(pageId: string): UnknownPageError {
  return new UnknownPageError(`There is no conversation ${pageId} to start the page at`);
}
