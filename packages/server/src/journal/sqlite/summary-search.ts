import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import type { ConversationPage, SummaryFilter, SummaryQuery } from "../journal.ts";
import { unknownPage } from "./conversation-reader.ts";
import type { ConversationRows } from "./conversation-rows.ts";
import { escapeLike, tagText } from "../summary-texts.ts";

/** Lists for people: ranges of one index that has all that a filter asks for. */
export class SummarySearch {
  readonly #rows: ConversationRows;
  readonly #start: StatementSync;

  constructor(database: DatabaseSync, rows: ConversationRows) {
    this.#rows = rows;
    this.#start = database.prepare(
      "SELECT updated_at AS at, number FROM conversations WHERE id = ? AND owner_id = ? AND is_copying = 0",
    );
  }

  search(given: SummaryQuery): ConversationPage {
    // A status that is named twice would be a range of its own, with the same rows.
    const query = { ...given, statuses: [...new Set(given.statuses)] };
    const { conditions, values } = toConditions(query);
    const { index, ranges: parts } = rangesOf(query);
    const ranges = parts.map(
      (part) => `
      SELECT number, updated_at AS at FROM conversations INDEXED BY ${index}
      WHERE owner_id = ?1 AND ${[part, ...conditions].join(" AND ")}
      AND (updated_at, number) <= (?2, ?3) AND is_copying = 0`,
    );
    const page = `${ranges.join(" UNION ALL ")} ORDER BY at DESC, number DESC LIMIT ?4`;
    const sql = { page, order: "page.at DESC, page.number DESC" };
    const start = this.#pageStart(query);
    const rows = this.#rows.list(sql, [query.ownerId, ...start, query.limit + 1, ...values]);
    return { items: rows.slice(0, query.limit), nextPageId: rows[query.limit]?.id ?? null };
  }

  #pageStart({ pageId, ownerId }: SummaryQuery): [at: number, number: number] {
    if (pageId === undefined) return [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER];
    const row = this.#start.get(pageId, ownerId);
    if (row === undefined) throw unknownPage(pageId);
    return [Number(row["at"]), Number(row["number"])];
  }
}

/** The index that reads least, and the ranges of it that have all that is asked for; SQLite merges them lazily. */
function rangesOf(filter: SummaryFilter): { readonly index: string; readonly ranges: readonly string[] } {
  const { isArchived, isPinned, parentId, statuses = [] } = filter;
  const archived = isArchived === undefined ? "TRUE" : `is_archived = ${Number(isArchived)}`;
  if (typeof parentId === "string") return { index: "conversations_parent", ranges: [archived] };
  if (isPinned === true) return { index: "conversations_pinned", ranges: [archived] };
  if (statuses.length > 0) {
    const ofStatus = (_: string, index: number): string =>
      `${archived} AND execution_status = ?${firstParameter + index}`;
    return { index: "conversations_owner_updated", ranges: statuses.map(ofStatus) };
  }
  const both = isArchived === undefined ? ["is_archived = 0", "is_archived = 1"] : [archived];
  return { index: "conversations_glance", ranges: both };
}

/** The first four parameters are taken. */
const firstParameter = 5;

function toConditions(filter: SummaryFilter): { conditions: string[]; values: SQLInputValue[] } {
  const values: SQLInputValue[] = [];
  const conditions: string[] = [];
  const parameter = (value: SQLInputValue): string => `?${firstParameter + values.push(value) - 1}`;
  const { titleParts = [], tag, workingDir, statuses = [], isPinned, parentId, updatedGteMicros } = filter;
  // First, because ranges mention them too.
  if (statuses.length > 0) conditions.push(`execution_status IN (${statuses.map(parameter).join(", ")})`);
  if (updatedGteMicros !== undefined) conditions.push(`updated_at >= ${parameter(updatedGteMicros)}`);
  if (isPinned !== undefined) conditions.push(`is_pinned = ${Number(isPinned)}`);
  if (parentId === null) conditions.push("parent_id IS NULL");
  else if (parentId !== undefined) conditions.push(`parent_id = ${parameter(parentId)}`);
  if (workingDir !== undefined) conditions.push(`working_dir = ${parameter(workingDir)}`);
  for (const part of titleParts)
    conditions.push(`title LIKE ${parameter(`%${escapeLike(part)}%`)} ESCAPE '\\'`);
  if (tag !== undefined) conditions.push(`instr(tags, ${parameter(tagText(tag))}) > 0`);
  return { conditions, values };
}
