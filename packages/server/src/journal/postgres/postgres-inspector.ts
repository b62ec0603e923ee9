import { setTimeout as sleep } from "node:timers/promises";
import type { Pool } from "pg";
import { unreleasedMessage, versionOf } from "../../cluster/migrate.ts";
import { nodesSchema } from "../../cluster/nodes-schema.ts";
import { openPool } from "../../database/postgres/postgres-pool.ts";
import { describePlace, type PostgresPlace } from "../../database/postgres-place.ts";
import { ConfigError } from "../../lib/config-error.ts";
import type { EventWithMeta } from "../journal.ts";
import type { LeaseHolder, StoreFacts, StoreInspector } from "../store-inspector.ts";
import { ConversationReader } from "./conversation-reader.ts";
import { EventReader } from "./event-reader.ts";
import { readKinds } from "./kind-reads.ts";
import { journalSchema } from "./schema.ts";

/** A node has a heartbeat once a second. */
const heartbeatWaitMs = 3_500;
const heartbeatPollMs = 250;

/** Opens the database that servers share for reading; it is no node of theirs. */
export async function openPostgresInspector(place: PostgresPlace): Promise<StoreInspector> {
  // A failure of an idle connection is reported to the next caller.
  const pool = openPool({ url: place.url, name: "convoke inspect", size: 2 }, () => {});
  try {
    await checkParts(pool, describePlace(place));
    return new PostgresInspector(pool);
  } catch (error) {
    await pool.end();
    throw error;
  }
}

async function checkParts(pool: Pool, place: string): Promise<void> {
  const { rows: found } = await pool.query<{ isThere: boolean }>(
    `SELECT to_regclass('convoke.parts') IS NOT NULL AS "isThere"`,
  );
  if (found[0]?.isThere !== true) throw new ConfigError(`The database ${place} has no conversations.`);
  const { rows } = await pool.query<{ name: string; version: number; oldest: number }>(
    "SELECT name, version, oldest FROM convoke.parts",
  );
  for (const part of [nodesSchema, journalSchema]) {
    const { name, firstVersion } = part;
    const target = versionOf(part);
    const { version, oldest } = rows.find((row) => row.name === name) ?? { version: 0, oldest: 0 };
    if (oldest > target)
      throw new ConfigError(
        `The part "${name}" of the database ${place} has format ${version}, this version reads up to ${target}: use a newer version.`,
      );
    if (version > 0 && version < firstVersion)
      throw new ConfigError(unreleasedMessage(part, ` ${place}`, version));
    if (version < target)
      throw new ConfigError(
        `The part "${name}" of the database ${place} has format ${version} of an older release, this version reads ${target}: start a server of this version on it once.`,
      );
  }
}

class PostgresInspector implements StoreInspector {
  readonly #pool: Pool;
  readonly #rows: ConversationReader;
  readonly #events: EventReader;

  constructor(pool: Pool) {
    this.#pool = pool;
    this.#rows = new ConversationReader(pool);
    this.#events = new EventReader(pool);
  }

  async findIds(beginning: string, limit: number): Promise<string[]> {
    const { rows } = await this.#pool.query<{ id: string }>(
      "SELECT id FROM convoke.conversations WHERE id >= $1 AND id < $2 ORDER BY id LIMIT $3",
      // Behind all digits and the dash.
      [beginning, `${beginning}g`, limit],
    );
    return rows.map(({ id }) => id);
  }

  getConversation: StoreInspector["getConversation"] = async (id) => (await this.#rows.get([id]))[0] ?? null;

  async facts(conversationId: string): Promise<StoreFacts | null> {
    const { rows } = await this.#pool.query<FactsRow>(factsSql, [conversationId]);
    const row = rows[0];
    if (row === undefined) return null;
    const { nodeId, ...facts } = row;
    return { ...facts, holder: nodeId === null ? null : await this.#holder(nodeId) };
  }

  read: StoreInspector["read"] = (conversationId, afterSeq, limit) =>
    this.#events.readAfter(conversationId, afterSeq, limit);
  readKinds: StoreInspector["readKinds"] = (...asked) => readKinds(this.#pool, ...asked);

  async readEach(conversationId: string, fromSeq: number, toSeq: number): Promise<EventWithMeta[]> {
    const log = await this.#events.open(conversationId);
    if (log === null) return [];
    const count = Math.max(0, Math.min(toSeq, log.lastSeq) - fromSeq + 1);
    return await this.#events.readEach(
      log,
      Array.from({ length: count }, (_, index) => fromSeq + index),
    );
  }

  async listParts(conversationId: string): Promise<{ id: string; status: string }[]> {
    const { rows } = await this.#pool.query<{ id: string; status: string }>(
      "SELECT id, execution_status AS status FROM convoke.conversations WHERE parent_id = $1 ORDER BY number",
      [conversationId],
    );
    return rows;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool.end();
  }

  /** A node that was killed stands in the table until another one has declared it dead: it lives if its heartbeat moves. */
  async #holder(nodeId: string): Promise<LeaseHolder> {
    const first = await this.#node(nodeId);
    const deadlineMs = performance.now() + heartbeatWaitMs;
    let last = first;
    while (
      last !== null &&
      !last.isDead &&
      last.heartbeat === first?.heartbeat &&
      performance.now() < deadlineMs
    ) {
      await sleep(heartbeatPollMs);
      last = await this.#node(nodeId);
    }
    return {
      nodeId,
      isAlive: last !== null && !last.isDead && last.heartbeat !== first?.heartbeat,
      startedAtMs: last?.startedAt.getTime() ?? null,
      address: last?.address ?? null,
      release: last?.release ?? null,
    };
  }

  async #node(nodeId: string): Promise<NodeRow | null> {
    const { rows } = await this.#pool.query<NodeRow>(
      `SELECT beat AS heartbeat, started_at AS "startedAt", dead_at IS NOT NULL AS "isDead", address, release
       FROM convoke.nodes WHERE id = $1`,
      [nodeId],
    );
    return rows[0] ?? null;
  }
}

type FactsRow = Omit<StoreFacts, "holder"> & { readonly nodeId: string | null };
type NodeRow = {
  readonly heartbeat: number;
  readonly startedAt: Date;
  readonly isDead: boolean;
  readonly address: string | null;
  readonly release: string | null;
};

const factsSql = `
  SELECT h.number AS log, h.generation, h.node_id AS "nodeId", h.machine, size.events AS "eventBytes",
    size.beside AS "besideBytes", coalesce(l.read_seq, 0) AS "indexedSeq"
  FROM convoke.conversations c JOIN convoke.heads h USING (number) LEFT JOIN convoke.text_logs l ON l.log = h.number
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(octet_length(json)), 0) AS events, coalesce(sum(octet_length(meta)), 0) AS beside
      FROM convoke.events e WHERE e.log = h.number
    ) size
  WHERE c.id = $1`;
