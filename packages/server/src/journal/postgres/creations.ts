import type { NodeHeartbeat } from "../../cluster/node-heartbeat.ts";
import { setTimeout as sleep } from "node:timers/promises";
import type { Pool } from "pg";
import { DatabaseUnavailableError } from "../../lib/database-unavailable.ts";
import { SeqConflictError, type AppendBatch, type NewConversation } from "../journal.ts";
import { appendName, appendSql, appendValues, partsOf } from "./append-statement.ts";
import type { Classes } from "./classes.ts";
import type { ConversationWriter, Held } from "./conversation-writer.ts";

export type CreationsDeps = {
  readonly pool: Pool;
  readonly writes: ConversationWriter;
  readonly classes: Classes;
  /** Read at each use: it changes after this process was declared dead. */
  readonly heartbeat: Pick<NodeHeartbeat, "nodeId">;
};

/** How long a creation waits for a database that is unavailable. */
const maxUnavailableMs = 5000;

/** Conversations that come with their first events: row, lease and events in one transaction. */
export class Creations {
  readonly #deps: CreationsDeps;

  constructor(deps: CreationsDeps) {
    this.#deps = deps;
  }

  /**
   * Null when the id is taken. After a lost connection nobody knows whether the commit was done: then it is tried again, and an id that is
   * taken by the very same events is ours.
   */
  async create(row: NewConversation, first: AppendBatch): Promise<Held | null> {
    const deadlineMs = performance.now() + maxUnavailableMs;
    for (let pauseMs = 50, isInDoubt = false; ; pauseMs *= 2, isInDoubt = true) {
      try {
        const held = await this.#attempt(row, first);
        return held ?? (isInDoubt ? await this.#findOwn(row.id, first) : null);
      } catch (error) {
        if (!(error instanceof DatabaseUnavailableError) || performance.now() > deadlineMs) throw error;
        await sleep(Math.min(1000, pauseMs));
      }
    }
  }

  async #attempt(row: NewConversation, { conversation, ...batch }: AppendBatch): Promise<Held | null> {
    const { pool, writes, classes, heartbeat } = this.#deps;
    const client = await pool.connect();
    let isWhole = false;
    try {
      await classes.learn(batch.events, client);
      await client.query("BEGIN");
      const held = await writes.create({ ...row, ...conversation }, true, client);
      if (held !== null) {
        const { number, generation } = held;
        const lease = { conversationId: row.id, generation };
        const group = [{ lease, number, batch }];
        const parts = partsOf(group);
        const values = appendValues(heartbeat.nodeId, group, classes, parts);
        const { rowCount } = await client.query({ name: appendName(parts), text: appendSql(parts), values });
        if (rowCount === 0) throw new SeqConflictError(`Conversation ${row.id} does not begin with these`);
      }
      await client.query("COMMIT");
      isWhole = true;
      return held;
    } finally {
      // A connection in the middle of a transaction is closed, which undoes it.
      client.release(!isWhole);
    }
  }

  async #findOwn(id: string, { events }: AppendBatch): Promise<Held | null> {
    const { rows } = await this.#deps.pool.query<Held & { readonly lastId: string | null }>(
      `SELECT h.number, h.generation, h.last_id AS "lastId", false AS "isFromElsewhere"
       FROM convoke.heads h JOIN convoke.conversations c USING (number) WHERE c.id = $1 AND h.node_id = $2`,
      [id, this.#deps.heartbeat.nodeId],
    );
    return rows.find(({ lastId }) => lastId !== null && lastId === events.at(-1)?.id) ?? null;
  }
}
