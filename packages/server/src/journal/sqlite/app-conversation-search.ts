import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import type { AppConversationFilter, AppConversationQuery, ConversationPage } from "../journal.ts";
import { unknownPage } from "./conversation-reader.ts";
import type { ConversationRows } from "./conversation-rows.ts";

/** Lists of conversations with facts of the app, from indexes that have these alone. */
export class AppConversationSearch {
  readonly #database: DatabaseSync;
  readonly #rows: ConversationRows;
  readonly #start: StatementSync;

  constructor(database: DatabaseSync, rows: ConversationRows) {
    this.#database = database;
    this.#rows = rows;
    this.#start = database.prepare(
      "SELECT created_at AS at, number FROM conversations WHERE id = ? AND owner_id = ? AND is_copying = 0",
    );
  }

  search(query: AppConversationQuery): ConversationPage {
    const { conditions, values } = toConditions(query);
    const [compare, direction] = query.sort === "CREATED_AT" ? [">=", "ASC"] : ["<=", "DESC"];
    if (query.pageId !== undefined) {
      const start = this.#start.get(query.pageId, query.ownerId);
      if (start === undefined) throw unknownPage(query.pageId);
      conditions.push(`(created_at, number) ${compare} (?, ?)`);
      values.push(Number(start["at"]), Number(start["number"]));
    }
    const page = `SELECT number, created_at AS at FROM conversations WHERE ${conditions.join(" AND ")}
      ORDER BY created_at ${direction}, number ${direction} LIMIT ?`;
    const order = `page.at ${direction}, page.number ${direction}`;
    const rows = this.#rows.list({ page, order }, [...values, query.limit + 1]);
    return { items: rows.slice(0, query.limit), nextPageId: rows[query.limit]?.id ?? null };
  }

  count(filter: AppConversationFilter): number {
    const { conditions, values } = toConditions(filter);
    const sql = `SELECT count(*) AS total FROM conversations WHERE ${conditions.join(" AND ")}`;
    return Number(this.#database.prepare(sql).get(...values)?.["total"]);
  }
}

function toConditions(filter: AppConversationFilter): { conditions: string[]; values: SQLInputValue[] } {
  const { ownerId, sandboxId, createdGteMicros, createdLtMicros, parentIds } = filter;
  const conditions = ["app_facts IS NOT NULL", "is_copying = 0", "owner_id = ?"];
  const values: SQLInputValue[] = [ownerId];
  const add = (condition: string, value: SQLInputValue | undefined): void => {
    if (value === undefined) return;
    conditions.push(condition);
    values.push(value);
  };
  add("sandbox_id = ?", sandboxId);
  add("created_at >= ?", createdGteMicros);
  add("created_at < ?", createdLtMicros);
  if (parentIds === null) conditions.push("app_parent_id IS NULL");
  else if (parentIds !== undefined)
    add("app_parent_id IN (SELECT value FROM json_each(?))", JSON.stringify(parentIds));
  return { conditions, values };
}
