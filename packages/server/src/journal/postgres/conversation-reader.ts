import type { Pool } from "pg";
import {
  type LogPlace,
  UnknownPageError,
  type AppConversationFilter,
  type AppConversationQuery,
  type ConversationFilter,
  type ConversationPage,
  type ConversationQuery,
  type ConversationRow,
  type SummaryFilter,
  type SummaryQuery,
  type InboxEntry,
  type NotedEntry,
} from "../journal.ts";
import { toStorable } from "./storable-text.ts";
import { conversationColumns, toConversation, type StoredConversation } from "../stored-conversation.ts";
import { escapeLike, tagText } from "../summary-texts.ts";

/** Reads conversation rows; lists are ranges of indexes, so a deep page costs what the first one does. */
export class ConversationReader {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** In the order of `ids`, null for misses. */
  async get(ids: readonly string[]): Promise<(ConversationRow | null)[]> {
    const { rows } = await this.#pool.query<StoredRow>({
      name: "conversations",
      text: `${selectRow} WHERE c.id = ANY ($1)`,
      values: [ids],
    });
    const found = new Map(rows.map((row) => [row.id, toConversation(row)]));
    return ids.map((id) => found.get(id) ?? null);
  }

  async findPlace(id: string): Promise<LogPlace | null> {
    const { rows } = await this.#pool.query<LogPlace>({ name: "place", text: placeSql, values: [id] });
    return rows[0] ?? null;
  }

  async ownerOf(id: string): Promise<string | null> {
    const { rows } = await this.#pool.query<{ ownerId: string }>({
      name: "owner",
      text: `SELECT owner_id AS "ownerId" FROM convoke.conversations WHERE id = $1 AND NOT is_copying`,
      values: [id],
    });
    return rows[0]?.ownerId ?? null;
  }

  async getInboxEntry(conversationId: string, clientId: string): Promise<InboxEntry | null> {
    const { rows } = await this.#pool.query<InboxEntry>(
      `SELECT i.event_id AS "eventId", i.digest FROM convoke.conversations c JOIN convoke.inbox i USING (number)
       WHERE c.id = $1 AND i.client_id = $2`,
      [conversationId, toStorable(clientId)],
    );
    return rows[0] ?? null;
  }

  async listInbox(conversationId: string): Promise<NotedEntry[]> {
    const { rows } = await this.#pool.query<NotedEntry>(
      `SELECT i.client_id AS "clientId", i.event_id AS "eventId", i.digest
       FROM convoke.conversations c JOIN convoke.inbox i USING (number) WHERE c.id = $1`,
      [conversationId],
    );
    return rows;
  }

  /** Active ones that no living process owns, with the process that did; null where nobody did. */
  async listOrphans(): Promise<{ id: string; nodeId: string | null }[]> {
    const { rows } = await this.#pool.query<{ id: string; nodeId: string | null }>({
      name: "orphans",
      text: `SELECT c.id, h.node_id AS "nodeId" FROM convoke.heads h JOIN convoke.conversations c USING (number)
         WHERE h.is_active AND NOT EXISTS (SELECT FROM convoke.nodes n WHERE n.id = h.node_id AND n.dead_at IS NULL)
         ORDER BY h.number`,
    });
    return rows;
  }

  async listActiveOf(nodeId: string): Promise<string[]> {
    const { rows } = await this.#pool.query<{ id: string }>({
      name: "active_of",
      text: `SELECT c.id FROM convoke.heads h JOIN convoke.conversations c USING (number)
         WHERE h.is_active AND h.node_id = $1 ORDER BY h.number`,
      values: [nodeId],
    });
    return rows.map(({ id }) => id);
  }

  async count(filter: ConversationFilter): Promise<number> {
    const where = new Conditions();
    addFilter(where, filter);
    return await this.#count(where);
  }

  async search(query: ConversationQuery): Promise<ConversationPage> {
    const where = new Conditions();
    addFilter(where, query);
    return await this.#page(where, query, {
      column: query.sort.startsWith("CREATED_AT") ? "created_at" : "updated_at",
      isDescending: query.sort.endsWith("_DESC"),
    });
  }

  async searchSummaries(query: SummaryQuery): Promise<ConversationPage> {
    const where = new Conditions();
    addFilter(where, query);
    addSummaryFilter(where, query);
    return await this.#page(where, query, { column: "updated_at", isDescending: true });
  }

  async searchAppConversations(query: AppConversationQuery): Promise<ConversationPage> {
    const where = new Conditions();
    addAppFilter(where, query);
    const { ownerId, limit, pageId } = query;
    return await this.#page(
      where,
      { ownerId, limit, pageId },
      {
        column: "created_at",
        isDescending: query.sort === "CREATED_AT_DESC",
      },
    );
  }

  async countAppConversations(filter: AppConversationFilter): Promise<number> {
    const where = new Conditions();
    addAppFilter(where, filter);
    return await this.#count(where);
  }

  async #count(where: Conditions): Promise<number> {
    const { rows } = await this.#pool.query<{ total: number }>(
      `SELECT count(*) AS total FROM convoke.conversations c WHERE ${where.text}`,
      where.values,
    );
    return rows[0]!.total;
  }

  async #page(
    where: Conditions,
    query: ConversationFilter & { readonly limit: number; readonly pageId?: string | undefined },
    order: Order,
  ): Promise<ConversationPage> {
    const [at, number] =
      query.pageId === undefined ? [null, null] : await this.#pageStart(query, query.pageId, order);
    const sql = pageSql(where, order, [at, number], query.limit + 1);
    const { rows } = await this.#pool.query<StoredRow>(sql, where.values);
    return {
      items: rows.slice(0, query.limit).map(toConversation),
      nextPageId: rows[query.limit]?.id ?? null,
    };
  }

  /** The sort key the page begins with. */
  async #pageStart(
    query: ConversationFilter,
    pageId: string,
    { column }: Order,
  ): Promise<[at: number, number: number]> {
    const where = new Conditions();
    // Another owner's conversation is as unknown as none; its status may have changed since the page before.
    const { executionStatus: _, ...scope } = query;
    addFilter(where, scope);
    where.add((value) => `c.id = ${value(pageId)}`);
    const { rows } = await this.#pool.query<{ at: number; number: number }>(
      `SELECT ${column === "created_at" ? "c.created_at" : "h.updated_at"} AS at, c.number
       FROM convoke.conversations c JOIN convoke.heads h USING (number) WHERE ${where.text}`,
      where.values,
    );
    if (rows[0] === undefined)
      throw new UnknownPageError(`There is no conversation ${pageId} to start the page at`);
    return [rows[0].at, rows[0].number];
  }
}

type Order = { readonly column: "created_at" | "updated_at"; readonly isDescending: boolean };

/** Conditions with their values, in order. */
class Conditions {
  readonly values: unknown[] = [];
  readonly #texts: string[] = [];

  /** `value` gives the parameter that stands for a value. */
  add(toText: (value: (value: unknown) => string) => string): void {
    this.#texts.push(toText((value) => this.value(value)));
  }

  value(value: unknown): string {
    return `$${this.values.push(value)}`;
  }

  get text(): string {
    return this.#texts.join(" AND ");
  }
}

function addFilter(where: Conditions, { ownerId, sandboxId, executionStatus }: ConversationFilter): void {
  where.add(() => "NOT c.is_copying");
  if (ownerId !== undefined) where.add((value) => `c.owner_id = ${value(ownerId)}`);
  if (sandboxId !== undefined) where.add((value) => `c.sandbox_id = ${value(sandboxId)}`);
  if (executionStatus !== undefined) where.add((value) => `c.execution_status = ${value(executionStatus)}`);
}

function addAppFilter(where: Conditions, filter: AppConversationFilter): void {
  const { ownerId, sandboxId, createdGteMicros, createdLtMicros, parentIds } = filter;
  where.add(() => "c.app_facts IS NOT NULL");
  addFilter(where, { ownerId, sandboxId });
  if (createdGteMicros !== undefined) where.add((value) => `c.created_at >= ${value(createdGteMicros)}`);
  if (createdLtMicros !== undefined) where.add((value) => `c.created_at < ${value(createdLtMicros)}`);
  if (parentIds === null) where.add(() => "c.app_parent_id IS NULL");
  else if (parentIds !== undefined) where.add((value) => `c.app_parent_id = ANY (${value(parentIds)})`);
}

function addSummaryFilter(where: Conditions, filter: SummaryFilter): void {
  const {
    titleParts = [],
    tag,
    workingDir,
    statuses = [],
    isArchived,
    isPinned,
    parentId,
    updatedGteMicros,
  } = filter;
  if (statuses.length > 0) where.add((value) => `c.execution_status = ANY (${value(statuses)})`);
  if (isArchived !== undefined) where.add(() => (isArchived ? "c.is_archived" : "NOT c.is_archived"));
  if (isPinned !== undefined) where.add(() => (isPinned ? "c.is_pinned" : "NOT c.is_pinned"));
  if (parentId === null) where.add(() => "c.parent_id IS NULL");
  else if (parentId !== undefined) where.add((value) => `c.parent_id = ${value(parentId)}`);
  if (updatedGteMicros !== undefined) where.add((value) => `h.updated_at >= ${value(updatedGteMicros)}`);
  if (workingDir !== undefined) where.add((value) => `c.working_dir = ${value(toStorable(workingDir))}`);
  for (const part of titleParts) {
    where.add((value) => `c.title ILIKE ${value(`%${escapeLike(toStorable(part))}%`)}`);
  }
  if (tag !== undefined) where.add((value) => `strpos(c.tags, ${value(tagText(tag))}) > 0`);
}

/**
 * Two ordered parts that are merged: of a running conversation the time stands in its head, of all others it is in an index.
 * The long texts are read for the rows of the page only.
 */
function pageSql(
  where: Conditions,
  { column, isDescending }: Order,
  [at, number]: readonly [number | null, number | null],
  limit: number,
): string {
  const [compare, direction] = isDescending ? ["<=", "DESC"] : [">=", "ASC"];
  const start = at === null ? null : `(${where.value(at)}::bigint, ${where.value(number)}::bigint)`;
  const maxRows = `${where.value(limit)}::integer`;
  const part = (time: string, condition: string): string => `
    (SELECT c.number, ${time} AS at FROM convoke.conversations c JOIN convoke.heads h USING (number)
     WHERE ${where.text} AND ${condition} ${start === null ? "" : `AND (${time}, c.number) ${compare} ${start}`}
     ORDER BY ${time} ${direction}, c.number ${direction} LIMIT ${maxRows})`;
  const parts =
    column === "created_at"
      ? [part("c.created_at", "TRUE")]
      : [
          part("c.updated_at", "c.execution_status <> 'running'"),
          part("h.updated_at", "c.execution_status = 'running'"),
        ];
  return `
    WITH page AS (SELECT * FROM (${parts.join(" UNION ALL ")}) parts ORDER BY at ${direction}, number ${direction} LIMIT ${maxRows})
    ${selectRow} JOIN page ON page.number = c.number ORDER BY page.at ${direction}, page.number ${direction}`;
}

/** A conversation without its documents is listed as a damaged one. */
const selectRow = `
  SELECT ${conversationColumns}, c.app_facts::text AS "appFacts", h.is_active AS "isActive", h.updated_at AS "updatedAtMicros",
    h.last_seq AS "lastSeq", coalesce(d.config, '') AS config, d.sealed_secrets AS "sealedSecrets", d.snapshot,
    coalesce(d.snapshot_seq, 0) AS "snapshotSeq"
  FROM convoke.conversations c JOIN convoke.heads h ON h.number = c.number
    LEFT JOIN convoke.documents d ON d.number = c.number`;

type StoredRow = StoredConversation<boolean>;

/** Of several processes on a machine the newest counts. */
const placeSql = `
  SELECT (SELECT n.id FROM convoke.nodes n WHERE n.id = h.node_id AND n.dead_at IS NULL) AS owner,
    (SELECT n.id FROM convoke.nodes n WHERE n.machine = h.machine AND n.dead_at IS NULL AND n.address IS NOT NULL
     ORDER BY n.started_at DESC, n.id LIMIT 1) AS "machineNode"
  FROM convoke.conversations c JOIN convoke.heads h USING (number) WHERE c.id = $1`;
