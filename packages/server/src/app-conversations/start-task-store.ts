import type { Cluster } from "../cluster/cluster.ts";
import { randomUUID } from "node:crypto";
import type {
  AppConversationStartRequestOutput,
  AppConversationStartTaskStatus,
  Message,
} from "@convoke/protocol";
import type { Selectable, Updateable } from "kysely";
import type { ApplicationDatabase } from "../database/application-database.ts";
import { changeRows, removeRows, rowsWith, type Wanted } from "../database/rows.ts";
import type { Tables } from "../database/tables.ts";
import { UnknownPageError } from "../journal/journal.ts";
import type { SecretBox } from "../security/seal.ts";
import type { StartOrder } from "./start-order.ts";
import type { Clock } from "../lib/clock.ts";
import { withoutUndefined } from "../lib/without-undefined.ts";

export type StartTask = {
  readonly id: string;
  readonly ownerId: string;
  readonly conversationId: string;
  readonly sandboxId: string;
  readonly status: AppConversationStartTaskStatus;
  /** The current step, or the reason of the failure. */
  readonly detail: string | null;
  readonly request: AppConversationStartRequestOutput;
  readonly attempts: number;
  /** The server that works on it, or did last. */
  readonly nodeId: string | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
};

export type StartTaskFilter = {
  readonly ownerId: string;
  readonly conversationId?: string | undefined;
  readonly createdGteMs?: number | undefined;
};

export type StartTaskQuery = StartTaskFilter & {
  readonly sort: "CREATED_AT" | "CREATED_AT_DESC" | "UPDATED_AT" | "UPDATED_AT_DESC";
  readonly limit: number;
  /** Id of the first task of this page. */
  readonly pageId?: string | undefined;
};

/** What a deletion needs to know of a conversation that was started. */
export type Started = { readonly id: string; readonly ownerId: string; readonly sandboxId: string };

export type PendingMessage = { readonly id: string; readonly message: Message };

export type StartTaskStoreDeps = {
  readonly database: ApplicationDatabase;
  readonly secretBox: SecretBox;
  /** Of this process; what is written of a start that another one has taken is dropped. */
  readonly cluster: Pick<Cluster, "nodeId">;
  readonly clock: Clock;
};

/** How many messages may wait for one start. */
const maxPending = 10;

export function hasEnded({ status }: Pick<StartTask, "status">): boolean {
  return status === "READY" || status === "ERROR";
}

/** Starts and the messages that wait for them: durable when a promise resolves. */
export class StartTaskStore {
  readonly #deps: StartTaskStoreDeps;

  constructor(deps: StartTaskStoreDeps) {
    this.#deps = deps;
  }

  get #tables() {
    return this.#deps.database.tables;
  }

  /** The new task; or the one of the same conversation that has not failed, and then nothing is written. */
  async insert(
    draft: Pick<StartTask, "ownerId" | "conversationId" | "sandboxId" | "request">,
    order: StartOrder,
  ): Promise<{ task: StartTask; isNew: boolean }> {
    const nowMs = this.#deps.clock.nowMs();
    const row: Selectable<Tables["start_tasks"]> = {
      id: randomUUID(),
      owner_id: draft.ownerId,
      conversation_id: draft.conversationId,
      sandbox_id: draft.sandboxId,
      status: "WORKING",
      detail: null,
      request: JSON.stringify(draft.request),
      sealed_order: this.#deps.secretBox.seal(JSON.stringify(order)),
      attempts: 0,
      node_id: this.#deps.cluster.nodeId,
      is_leaving: 0,
      created_at: nowMs,
      updated_at: nowMs,
    };
    return await this.#deps.database.transaction(async (tables) => {
      const known = await rowsWith(tables, "start_tasks", { conversation_id: draft.conversationId })
        .where("status", "!=", "ERROR")
        .executeTakeFirst();
      if (known !== undefined) return { task: toTask(known), isNew: false };
      await tables.insertInto("start_tasks").values(row).execute();
      return { task: toTask(row), isNew: true };
    });
  }

  /** Null when the task is gone, has ended, or is another server's by now. */
  async update(
    id: string,
    change: { readonly status: StartTask["status"]; readonly detail: string | null },
  ): Promise<StartTask | null> {
    const row = await this.#changeOwn(id, { ...change, sealed_order: hasEnded(change) ? null : undefined })
      .where("status", "not in", ["READY", "ERROR"])
      .returningAll()
      .executeTakeFirst();
    return row === undefined ? null : toTask(row);
  }

  /**
   * Ends a task well; "pending" when a message has come in meanwhile, which has to be sent first, and null when the task is gone or
   * another server's by now.
   */
  async finish(task: StartTask, detail: string | null): Promise<StartTask | "pending" | null> {
    return await this.#deps.database.transaction(async (tables) => {
      const waiting = rowsWith(tables, "pending_messages", { conversation_id: task.conversationId });
      if ((await waiting.executeTakeFirst()) !== undefined) return "pending";
      const change = { status: "READY", detail, sealed_order: null };
      const row = await this.#changeOwn(task.id, change, tables).returningAll().executeTakeFirst();
      return row === undefined ? null : toTask(row);
    });
  }

  /** Counts one more attempt, this server's; null when the task has ended, is gone, or was taken by another server before. */
  async take({ id, nodeId }: StartTask): Promise<{ task: StartTask; order: StartOrder } | null> {
    const row = await this.#tables
      .updateTable("start_tasks")
      .set((builder) => ({ attempts: builder("attempts", "+", 1), node_id: this.#deps.cluster.nodeId }))
      .where("id", "=", id)
      .where("node_id", nodeId === null ? "is" : "=", nodeId)
      .where("sealed_order", "is not", null)
      .returningAll()
      .executeTakeFirst();
    if (row === undefined) return null;
    const order = JSON.parse(this.#deps.secretBox.unseal(row.sealed_order!)) as StartOrder;
    return { task: toTask(row), order };
  }

  /** True when a start that has not ended is not this server's. */
  async isElsewhere(id: string): Promise<boolean> {
    const row = await this.#unfinished({ id }).executeTakeFirst();
    return row !== undefined && row.node_id !== this.#deps.cluster.nodeId;
  }

  /** Those that no end was written down for. */
  async listUnfinished(): Promise<StartTask[]> {
    return (await this.#unfinished({}).orderBy("created_at").execute()).map(toTask);
  }

  /** Whether a start that has not ended is to use this sandbox. */
  async isWanted(sandboxId: string): Promise<boolean> {
    return (await this.#unfinished({ sandbox_id: sandboxId }).executeTakeFirst()) !== undefined;
  }

  /** In the order of `ids`, null for misses and for those of others. */
  async getMany(ownerId: string, ids: readonly string[]): Promise<(StartTask | null)[]> {
    if (ids.length === 0) return [];
    const rows = await rowsWith(this.#tables, "start_tasks", { owner_id: ownerId, id: ids }).execute();
    const byId = new Map(rows.map((row) => [row.id, toTask(row)]));
    return ids.map((id) => byId.get(id) ?? null);
  }

  /** The newest start of a conversation. */
  async ofConversation(ownerId: string, conversationId: string): Promise<StartTask | null> {
    const query = this.#filtered({ ownerId, conversationId }).orderBy("created_at", "desc");
    const row = await query.executeTakeFirst();
    return row === undefined ? null : toTask(row);
  }

  async search(query: StartTaskQuery): Promise<{ items: StartTask[]; nextPageId: string | null }> {
    const column = query.sort.startsWith("CREATED") ? "created_at" : "updated_at";
    const direction = query.sort.endsWith("_DESC") ? "desc" : "asc";
    let wanted = this.#filtered(query);
    if (query.pageId !== undefined) {
      const [first] = await this.getMany(query.ownerId, [query.pageId]);
      if (!first) throw new UnknownPageError(`There is no start task ${query.pageId} to start the page at`);
      const at = column === "created_at" ? first.createdAtMs : first.updatedAtMs;
      const beyond = direction === "desc" ? "<" : ">";
      wanted = wanted.where((where) =>
        where.or([
          where(column, beyond, at),
          where.and([where(column, "=", at), where("id", direction === "desc" ? "<=" : ">=", first.id)]),
        ]),
      );
    }
    const rows = await wanted
      .orderBy(column, direction)
      .orderBy("id", direction)
      .limit(query.limit + 1)
      .execute();
    return { items: rows.slice(0, query.limit).map(toTask), nextPageId: rows[query.limit]?.id ?? null };
  }

  async count(filter: StartTaskFilter): Promise<number> {
    const { number } = await this.#filtered(filter)
      .clearSelect()
      .select((select) => select.fn.countAll<number>().as("number"))
      .executeTakeFirstOrThrow();
    return number;
  }

  /** Leaves a message for a start that is under way; `position` counts from 1. */
  async addPending(
    conversationId: string,
    message: Message,
  ): Promise<{ id: string; position: number } | "ended" | "full"> {
    return await this.#deps.database.transaction(async (tables) => {
      const wanted = { conversation_id: conversationId };
      if ((await this.#unfinished(wanted, tables).executeTakeFirst()) === undefined) return "ended";
      const { number } = await rowsWith(tables, "pending_messages", wanted)
        .clearSelect()
        .select((select) => select.fn.countAll<number>().as("number"))
        .executeTakeFirstOrThrow();
      if (number >= maxPending) return "full";
      const id = randomUUID();
      const row = { ...wanted, id, message: JSON.stringify(message) };
      await tables.insertInto("pending_messages").values(row).execute();
      return { id, position: number + 1 };
    });
  }

  async firstPending(conversationId: string): Promise<PendingMessage | null> {
    const query = rowsWith(this.#tables, "pending_messages", { conversation_id: conversationId });
    const row = await query.orderBy("number").limit(1).executeTakeFirst();
    return row === undefined ? null : { id: row.id, message: JSON.parse(row.message) as Message };
  }

  async removePending(id: string): Promise<void> {
    await removeRows(this.#tables, "pending_messages", { id });
  }

  /** From here on the deletion of these conversations is resumed until it is complete. */
  async markLeaving(ownerId: string, conversationIds: readonly string[]): Promise<void> {
    const wanted = { owner_id: ownerId, conversation_id: conversationIds };
    await changeRows(this.#tables, "start_tasks", wanted, { is_leaving: 1 });
  }

  async listLeaving(): Promise<Started[]> {
    const rows = await this.#started({ is_leaving: 1 }).execute();
    return [...Map.groupBy(rows, ({ id }) => id).values()].map(([newest]) => newest!);
  }

  /** A conversation that came to be, also when nothing but its sandbox is left of it; null when there was none. */
  async started(ownerId: string, conversationId: string): Promise<Started | null> {
    const row = await this.#started({ owner_id: ownerId, conversation_id: conversationId })
      .where((where) => where.or([where("is_leaving", "=", 1), where("status", "=", "READY")]))
      .executeTakeFirst();
    return row ?? null;
  }

  /** The newest start of each conversation first. */
  #started(wanted: Wanted<"start_tasks">) {
    return rowsWith(this.#tables, "start_tasks", wanted)
      .clearSelect()
      .select(["conversation_id as id", "owner_id as ownerId", "sandbox_id as sandboxId"])
      .orderBy("created_at", "desc");
  }

  /** Everything about the starts of a conversation. */
  async removeOf(conversationId: string): Promise<void> {
    const wanted = { conversation_id: conversationId };
    await removeRows(this.#tables, "pending_messages", wanted);
    await removeRows(this.#tables, "start_tasks", wanted);
  }

  #unfinished(wanted: Wanted<"start_tasks">, tables = this.#tables) {
    return rowsWith(tables, "start_tasks", wanted).where("sealed_order", "is not", null);
  }

  /** Of a task that is this server's. */
  #changeOwn(id: string, change: Updateable<Tables["start_tasks"]>, tables = this.#tables) {
    return tables
      .updateTable("start_tasks")
      .set({ ...change, updated_at: this.#deps.clock.nowMs() })
      .where("id", "=", id)
      .where("node_id", "=", this.#deps.cluster.nodeId);
  }

  #filtered({ ownerId, conversationId, createdGteMs }: StartTaskFilter) {
    const wanted = withoutUndefined({ owner_id: ownerId, conversation_id: conversationId });
    const query = rowsWith(this.#tables, "start_tasks", wanted);
    return createdGteMs === undefined ? query : query.where("created_at", ">=", createdGteMs);
  }
}

function toTask(row: Selectable<Tables["start_tasks"]>): StartTask {
  return {
    id: row.id,
    ownerId: row.owner_id,
    conversationId: row.conversation_id,
    sandboxId: row.sandbox_id,
    status: row.status as StartTask["status"],
    detail: row.detail,
    request: JSON.parse(row.request) as StartTask["request"],
    attempts: row.attempts,
    nodeId: row.node_id,
    createdAtMs: row.created_at,
    updatedAtMs: row.updated_at,
  };
}
