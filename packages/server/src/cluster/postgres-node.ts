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
import { declareEnded, NodeBeat } from "./node-beat.ts";
import { nodesSchema } from "./nodes-schema.ts";
import { OwnNodes } from "./own-nodes.ts";

export type PostgresNodeOptions = {
  /** `postgres://...`; its role owns the database, or the schema `convoke`. */
  readonly url: string;
  /** What this process keeps on its machine; null for one that keeps nothing. */
  readonly dataDir?: string | null;
  /** Between two beats, in milliseconds; a second when not given. */
  readonly beatMs?: number;
  /** What went wrong in the background, for a log. Nothing is lost by it: it is tried again. */
  readonly onFailure: (error: unknown) => void;
};

const poolSize = 8;
const pollEveryMs = 250;

/** This process among those that share a PostgreSQL: its row, its beat, and connections for single statements. */
export class PostgresNode implements AsyncDisposable {
  readonly url: string;
  readonly pool: Pool;
  readonly beat: NodeBeat;
  readonly timeline: Timeline;
  /** The data folder by a name that stays; null without one. What runs from the same one has the same files. */
  readonly machine: string | null;
  readonly #own: OwnNodes | null;
  readonly #closed = onceUnlessRejected(() => this.#close());

  private constructor(
    {
      url,
      pool,
      beat,
      timeline,
      machine,
    }: Pick<PostgresNode, "url" | "pool" | "beat" | "timeline" | "machine">,
    own: OwnNodes | null,
  ) {
    this.url = url;
    this.pool = pool;
    this.beat = beat;
    this.timeline = timeline;
    this.machine = machine;
    this.#own = own;
    own?.name(beat.nodeId);
    if (own !== null) beat.onFenced(() => own.name(beat.nodeId));
  }

  /** Makes and updates the tables of nodes. */
  static async open({ url, dataDir = null, beatMs, onFailure }: PostgresNodeOptions): Promise<PostgresNode> {
    await using scope = new AsyncDisposableStack();
    const nodeId = randomUUID();
    // By this name the others end what a dead node still holds.
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
    const beat = await NodeBeat.open({
      url,
      nodeId,
      timeline,
      machine,
      onFailure,
      ...(beatMs === undefined ? {} : { everyMs: beatMs }),
    });
    scope.move();
    return new PostgresNode({ url, pool, beat, timeline, machine }, own);
  }

  /**
   * The id of another process that works on the database; null once there is none. Those that were killed stand in the table until a
   * process has seen often enough that they do not beat. This one does that, so it takes no longer.
   */
  async findOther(): Promise<string | null> {
    for (;;) {
      const { rows } = await this.pool.query<{ id: string }>(
        "SELECT id FROM convoke.nodes WHERE dead_at IS NULL AND id <> $1",
        [this.beat.nodeId],
      );
      const beating = rows.find(({ id }) => this.beat.hasBeaten(id));
      if (rows.length === 0 || beating !== undefined) return beating?.id ?? null;
      await sleep(pollEveryMs);
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#closed();
  }

  async #close(): Promise<void> {
    // From now on others may take what was owned here.
    await this.beat[Symbol.asyncDispose]();
    this.#own?.[Symbol.dispose]();
    await this.pool.end();
  }
}

async function readMachine(dataDir: string): Promise<string> {
  const file = join(dataDir, "machine");
  await writeOnce(file, `${randomUUID()}\n`);
  return ((await readIfThere(file)) ?? "").trim();
}
