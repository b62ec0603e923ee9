import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { onceUnlessRejected } from "@convoke/protocol";
import type { Pool } from "pg";
import { openPool } from "../database/postgres/postgres-pool.ts";
import { Timeline } from "../database/postgres/timeline.ts";
import { readIfThere } from "../lib/read-if-there.ts";
import { writeOnce } from "../lib/write-once.ts";
import { migrate } from "./migrate.ts";
import { declareEnded, NodeHeartbeat } from "./node-heartbeat.ts";
import { nodesSchema } from "./nodes-schema.ts";
import { OwnNodes } from "./own-nodes.ts";

export type PostgresNodeOptions = {
  /** `postgres://...`; its role owns the database, or the schema `convoke`. */
  readonly url: string;
  /** The data folder of this process; null for a process without one. */
  readonly dataDir?: string | null;
  /** Milliseconds between two heartbeats; 1000 by default. */
  readonly heartbeatMs?: number;
  /** Called with failures in the background, for the log. Nothing is lost: they are retried. */
  readonly onFailure: (error: unknown) => void;
};

const poolSize = 8;
const pollEveryMs = 250;

/** This process as a node on a shared PostgreSQL: its row, its heartbeat, and a pool for single statements. */
export class PostgresNode implements AsyncDisposable {
  readonly url: string;
  readonly pool: Pool;
  readonly heartbeat: NodeHeartbeat;
  readonly timeline: Timeline;
  /** The permanent name of the data folder; null without one. Processes of one data folder share its files. */
  readonly machine: string | null;
  readonly #own: OwnNodes | null;
  readonly #closed = onceUnlessRejected(() => this.#close());

  private constructor(
    {
      url,
      pool,
      heartbeat,
      timeline,
      machine,
    }: Pick<PostgresNode, "url" | "pool" | "heartbeat" | "timeline" | "machine">,
    own: OwnNodes | null,
  ) {
    this.url = url;
    this.pool = pool;
    this.heartbeat = heartbeat;
    this.timeline = timeline;
    this.machine = machine;
    this.#own = own;
    own?.name(heartbeat.nodeId);
    if (own !== null) heartbeat.onFenced(() => own.name(heartbeat.nodeId));
  }

  /** Creates and migrates the tables of nodes. */
  static async open({
    url,
    dataDir = null,
    heartbeatMs,
    onFailure,
  }: PostgresNodeOptions): Promise<PostgresNode> {
    await using scope = new AsyncDisposableStack();
    const nodeId = randomUUID();
    // By this application name the other nodes end the connections of a dead node.
    const timeline = new Timeline();
    const pool = openPool({ url, name: `convoke ${nodeId}`, size: poolSize, timeline }, onFailure);
    scope.defer(() => pool.end());
    await migrate(pool, nodesSchema);
    const own = dataDir === null ? null : scope.use(OwnNodes.open(dataDir));
    for (const { process, nodeId: endedId } of (await own?.findEnded()) ?? []) {
      await declareEnded(pool, endedId);
      own?.forget(process);
    }
    const machine = dataDir === null ? null : await readMachine(dataDir);
    const heartbeat = await NodeHeartbeat.open({
      url,
      nodeId,
      timeline,
      machine,
      onFailure,
      everyMs: heartbeatMs,
    });
    scope.move();
    return new PostgresNode({ url, pool, heartbeat, timeline, machine }, own);
  }

  /**
   * The id of another node that works on the database; null once there is none. Killed processes keep their row until
   * some node has polled their unchanged heartbeat often enough; this node polls as well, so the wait is bounded.
   */
  async findOther(): Promise<string | null> {
    for (;;) {
      const { rows } = await this.pool.query<{ id: string }>(
        "SELECT id FROM convoke.nodes WHERE dead_at IS NULL AND id <> $1",
        [this.heartbeat.nodeId],
      );
      const beating = rows.find(({ id }) => this.heartbeat.hasBeaten(id));
      if (rows.length === 0 || beating !== undefined) return beating?.id ?? null;
      await sleep(pollEveryMs);
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#closed();
  }

  async #close(): Promise<void> {
    // Releases everything that this node owned.
    await this.heartbeat[Symbol.asyncDispose]();
    this.#own?.[Symbol.dispose]();
    await this.pool.end();
  }
}

async function readMachine(dataDir: string): Promise<string> {
  const file = join(dataDir, "machine");
  await writeOnce(file, `${randomUUID()}\n`);
  return ((await readIfThere(file)) ?? "").trim();
}
