import type { NodeHeartbeat } from "../../cluster/node-heartbeat.ts";
import type { Pool, PoolClient } from "pg";
import {
  LeaseHeldError,
  LeaseLostError,
  UnknownConversationError,
  type Lease,
  type MarkChange,
  type NewConversation,
} from "../journal.ts";
import { listedFieldsOf } from "./listed-fields.ts";
import { toStorable } from "./storable-text.ts";

/** What this process holds: where the log of a lease is. */
export type Held = {
  readonly number: number;
  readonly generation: number;
  /** See {@link Lease}. */
  readonly isFromElsewhere: boolean;
};

/** What another living process works on. */
export function ownedBy(conversationId: string, holder: string): LeaseHeldError {
  return new LeaseHeldError(`Conversation ${conversationId} is owned by node ${holder}`, holder);
}

/** Creates, claims, marks and deletes conversations: one statement each, and one commit. */
export class ConversationWriter {
  readonly #pool: Pool;
  readonly #heartbeat: Pick<NodeHeartbeat, "nodeId">;
  readonly #machine: string | null;

  constructor(pool: Pool, heartbeat: Pick<NodeHeartbeat, "nodeId">, machine: string | null) {
    this.#pool = pool;
    this.#heartbeat = heartbeat;
    this.#machine = machine;
  }

  /** Null when the id is taken. */
  async create(
    row: NewConversation,
    isClaimed: boolean,
    client: Pick<PoolClient, "query"> = this.#pool,
  ): Promise<Held | null> {
    const { workingDir, tags } = listedFieldsOf(row.config);
    const { rows } = await client.query<{ number: number }>(createSql, [
      row.id,
      row.ownerId,
      row.executionStatus,
      row.createdAtMicros,
      row.updatedAtMicros,
      row.title === null ? null : toStorable(row.title),
      row.sandboxId,
      row.parentId,
      row.host,
      row.isCopying,
      workingDir === null ? null : toStorable(workingDir),
      tags,
      row.isActive,
      row.config,
      row.sealedSecrets,
      row.snapshot,
      row.snapshotSeq,
      isClaimed ? 1 : 0,
      isClaimed ? this.#heartbeat.nodeId : null,
      this.#machine,
      row.appFacts,
    ]);
    const number = rows[0]?.number;
    return number === undefined ? null : { number, generation: 1, isFromElsewhere: false };
  }

  async claim(conversationId: string): Promise<Held> {
    for (;;) {
      const nodeId = this.#heartbeat.nodeId;
      const { rows } = await this.#pool.query<Held>({
        name: "claim",
        text: claimSql,
        values: [conversationId, nodeId, this.#machine],
      });
      if (rows[0] !== undefined) return rows[0];
      const holder = await this.#findHolder(conversationId);
      // Released, or declared dead, since it was refused.
      if (holder === null || holder === nodeId) continue;
      throw ownedBy(conversationId, holder);
    }
  }

  /** One statement and one commit. Rows that another process is writing to are passed over, so that nobody waits for anybody. */
  async claimMany(ids: readonly string[]): Promise<Map<string, Held>> {
    const { rows } = await this.#pool.query<Held & { readonly id: string }>({
      name: "claim many",
      text: claimManySql,
      values: [ids, this.#heartbeat.nodeId, this.#machine],
    });
    return new Map(rows.map(({ id, ...held }) => [id, held]));
  }

  /** The living processes that own some of them. */
  async findHolders(ids: readonly string[]): Promise<Map<string, string>> {
    const { rows } = await this.#pool.query<{ id: string; holder: string }>({
      name: "holders",
      text: `SELECT c.id, n.id AS holder FROM convoke.conversations c JOIN convoke.heads h USING (number)
         JOIN convoke.nodes n ON n.id = h.node_id AND n.dead_at IS NULL WHERE c.id = ANY ($1)`,
      values: [ids],
    });
    return new Map(rows.map(({ id, holder }) => [id, holder]));
  }

  /** A lease that was replaced meanwhile is left alone. */
  async release({ number, generation }: Held): Promise<void> {
    await this.#pool.query(
      "UPDATE convoke.heads SET node_id = NULL WHERE number = $1 AND generation = $2 AND node_id = $3",
      [number, generation, this.#heartbeat.nodeId],
    );
  }

  /** False when there is no such conversation. */
  async mark(
    id: string,
    { isPinned, isArchived, readEventId, appFacts, ownerId }: MarkChange,
  ): Promise<boolean> {
    const { rowCount } = await this.#pool.query(
      `UPDATE convoke.conversations SET is_pinned = coalesce($2, is_pinned), is_archived = coalesce($3, is_archived),
         read_event_id = CASE WHEN $4::text COLLATE "C" > coalesce(read_event_id, '') THEN $4 ELSE read_event_id END,
         owner_id = coalesce($7, owner_id),
         app_facts = CASE WHEN NOT $5 THEN app_facts ELSE coalesce(app_facts, '{}') || $6::jsonb END
       WHERE id = $1`,
      [
        id,
        isPinned ?? null,
        isArchived ?? null,
        readEventId ?? null,
        appFacts !== undefined,
        appFacts ?? null,
        ownerId ?? null,
      ],
    );
    return (rowCount ?? 0) > 0;
  }

  /** Deletes the row at once; its log is marked as deleted and removed later. */
  async delete({ number, generation }: Held, { conversationId }: Lease): Promise<void> {
    const { rowCount } = await this.#pool.query(deleteSql, [number, generation, this.#heartbeat.nodeId]);
    if (rowCount === 0) {
      throw new LeaseLostError(`Lease ${generation} of conversation ${conversationId} is over`);
    }
  }

  async #findHolder(conversationId: string): Promise<string | null> {
    const { rows } = await this.#pool.query<{ node_id: string | null }>({
      name: "holder",
      text: `SELECT (SELECT n.id FROM convoke.nodes n WHERE n.id = h.node_id AND n.dead_at IS NULL) AS node_id
       FROM convoke.conversations c JOIN convoke.heads h USING (number) WHERE c.id = $1`,
      values: [conversationId],
    });
    if (rows[0] === undefined) {
      throw new UnknownConversationError(`There is no conversation ${conversationId}`);
    }
    return rows[0].node_id;
  }
}

const createSql = `
  WITH made AS (
    INSERT INTO convoke.conversations (id, owner_id, execution_status, created_at, updated_at, title, sandbox_id, parent_id,
      host, is_copying, working_dir, tags, app_facts, app_parent_id)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $21::jsonb, $21::jsonb ->> 'parent_id') ON CONFLICT (id) DO NOTHING RETURNING number, updated_at
  ), headed AS (
    INSERT INTO convoke.heads (number, generation, node_id, machine, is_active, updated_at)
    SELECT number, $18::bigint, $19::text, $20::text, $13::boolean, updated_at FROM made
  ), documented AS (
    INSERT INTO convoke.documents (number, config, sealed_secrets, snapshot, snapshot_seq)
    SELECT number, $14, $15, $16, $17::integer FROM made
  )
  SELECT number FROM made`;

/** Of a head `h`, for the process $2 on the machine $3. */
const isFree = `(h.node_id IS NULL OR h.node_id = $2
      OR NOT EXISTS (SELECT FROM convoke.nodes n WHERE n.id = h.node_id AND n.dead_at IS NULL))`;

/**
 * The former machine stays with the head: who claims may end before it has settled what was begun there. Of who made it alone there is
 * nothing to settle.
 */
const setClaimed = `generation = h.generation + 1, node_id = $2, machine = $3,
    former_machine = CASE WHEN h.machine <> $3 AND h.generation > 0 THEN h.machine ELSE h.former_machine END`;

const claimed = `h.number, h.generation, coalesce(h.former_machine <> $3, false) AS "isFromElsewhere"`;

const claimSql = `
  UPDATE convoke.heads h SET ${setClaimed}
  FROM convoke.conversations c
  WHERE c.id = $1 AND h.number = c.number AND ${isFree}
  RETURNING ${claimed}`;

const claimManySql = `
  WITH free AS (
    SELECT c.id, h.number FROM convoke.conversations c JOIN convoke.heads h USING (number)
    WHERE c.id = ANY ($1) AND ${isFree}
    FOR UPDATE OF h SKIP LOCKED
  )
  UPDATE convoke.heads h SET ${setClaimed} FROM free WHERE h.number = free.number
  RETURNING free.id, ${claimed}`;

const deleteSql = `
  WITH gone AS (
    DELETE FROM convoke.heads WHERE number = $1 AND generation = $2 AND node_id = $3 RETURNING number
  ), unlisted AS (
    DELETE FROM convoke.conversations WHERE number IN (SELECT number FROM gone)
  ), undocumented AS (
    DELETE FROM convoke.documents WHERE number IN (SELECT number FROM gone)
  ), unnoted AS (
    DELETE FROM convoke.inbox WHERE number IN (SELECT number FROM gone)
  )
  INSERT INTO convoke.doomed (log) SELECT number FROM gone`;
