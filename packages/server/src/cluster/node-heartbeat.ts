import { Listeners } from "../lib/listeners.ts";
import { randomUUID } from "node:crypto";
import { Socket } from "node:net";
import { setImmediate as yieldToEventLoop, setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";
import { breakOff, openConnection } from "../database/postgres/postgres-connection.ts";
import type { Timeline } from "../database/postgres/timeline.ts";
import { version } from "../lib/version.ts";
import { poll, noPolls, type NodePolls, type SeenNode } from "./node-polls.ts";

export type HeartbeatOptions = {
  readonly url: string;
  /** The first id of this node; it must never have been used. */
  readonly nodeId: string;
  readonly timeline: Timeline;
  /** Null for a process without a data folder. */
  readonly machine: string | null;
  /** Milliseconds between two heartbeats; 1000 by default. It must be the same for all nodes of a database. */
  readonly everyMs?: number | undefined;
  /** For a log line: the next heartbeat retries. */
  readonly onFailure: (error: unknown) => void;
};

const defaultEveryMs = 1000;
/** A poll that comes later than this multiple of the interval restarts the counts. */
const maxGapFactor = 2;
/** After this many failed heartbeats the other nodes may soon declare this one dead. */
const maxMissedHeartbeats = 3;

/**
 * Proves that this node lives, by a counter in its row of `nodes`, and declares nodes dead whose counter stands still.
 * No clocks are compared. It has its own connection: a full pool must not make a node seem dead.
 */
export class NodeHeartbeat implements AsyncDisposable {
  readonly #options: HeartbeatOptions;
  readonly #everyMs: number;
  readonly #fencedListeners = new Set<() => void>();
  readonly #goneListeners = new Listeners<void>();
  readonly #waiting = new Set<() => void>();
  #client: Client | null;
  #nodeId: string;
  #polls: NodePolls = noPolls;
  #addresses: ReadonlyMap<string | null, string | null> = new Map();
  /** The nodes whose rows existed at the first poll, with their heartbeats then; null before it. See {@link isHere}. */
  #unproven: ReadonlyMap<string, number> | null = null;
  #hasOthers = true;
  #address: string | null = null;
  /** The database's clock at the last successful heartbeat. */
  #clockMs: number;
  /** Monotonic time at which that heartbeat was acknowledged. */
  #arrivedMs = performance.now();
  /** Monotonic time at which the last successful heartbeat was sent. The other nodes have seen it later than that. */
  #soundMs = performance.now();
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> = Promise.resolve();
  #isClosed = false;

  private constructor(options: HeartbeatOptions, client: Client, clockMs: number) {
    this.#options = options;
    this.#everyMs = options.everyMs ?? defaultEveryMs;
    this.#nodeId = options.nodeId;
    this.#client = client;
    this.#clockMs = clockMs;
    this.#schedule();
  }

  /** The tables of {@link nodesSchema} have to be there. */
  static async open(options: HeartbeatOptions): Promise<NodeHeartbeat> {
    const client = await connect(options, options.nodeId);
    const clockMs = await register(client, options, options.nodeId, null);
    return new NodeHeartbeat(options, client, clockMs);
  }

  /** Changes when this node is fenced. An id is never reused, so whatever the old one owned stays lost. */
  get nodeId(): string {
    return this.#nodeId;
  }

  /** False when the last poll found no other node. */
  get hasOtherNodes(): boolean {
    return this.#hasOthers;
  }

  /** False when the last heartbeats failed, or when this process stalled and may have been fenced. */
  get isSound(): boolean {
    return performance.now() - this.#soundMs < this.#everyMs * maxMissedHeartbeats;
  }

  /** See {@link Cluster.untilSound}. */
  async untilSound(signal: AbortSignal): Promise<void> {
    while (!this.isSound && !signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const stop = (): void => resolve();
      this.#waiting.add(stop);
      signal.addEventListener("abort", stop, { once: true });
      await promise;
      this.#waiting.delete(stop);
      signal.removeEventListener("abort", stop);
    }
  }

  /** Whole epoch milliseconds by the database's clock, not this machine's. */
  get nowMs(): number {
    return Math.floor(this.#clockMs + (performance.now() - this.#arrivedMs));
  }

  /** The local address of the connection to the database; null when it is not a network connection. */
  get localAddress(): string | null {
    const stream = this.#client?.connection.stream;
    return stream instanceof Socket ? (stream.localAddress ?? null) : null;
  }

  /** Publishes the address of this node; if this heartbeat fails, the next one publishes it. */
  async announce(address: string): Promise<void> {
    this.#address = address;
    await this.#sending;
    clearTimeout(this.#timer);
    this.#sendNow();
    await this.#sending;
  }

  /** Called after this node was fenced and has its new id. Returns the unsubscribe function. */
  onFenced(listener: () => void): () => void {
    const own = (): void => listener();
    this.#fencedListeners.add(own);
    return () => void this.#fencedListeners.delete(own);
  }

  /** The address of another node as of the last successful heartbeat; null when unknown. */
  addressOf(nodeId: string): string | null {
    return (this.isSound ? this.#addresses.get(nodeId) : null) ?? null;
  }

  /** True once the node's heartbeat has moved since this process began to poll; see {@link isHere}. */
  hasBeaten(nodeId: string): boolean {
    return this.#unproven?.has(nodeId) === false;
  }

  /**
   * Whether another node sends heartbeats to this database. A row that existed before may come from a copied database,
   * while its process works on the original. So a row counts once its heartbeat has moved; this waits for that. True
   * for a node without a row.
   */
  async isHere(nodeId: string): Promise<boolean> {
    for (let polls = 0; polls <= maxProofPolls; polls += 1) {
      if (this.hasBeaten(nodeId)) return true;
      await sleep(this.#everyMs);
    }
    return false;
  }

  /** Called when another node has died. Returns the unsubscribe function. */
  onGone(listener: () => void): () => void {
    return this.#goneListeners.add(listener);
  }

  /** Releases everything that this node owned to the others. Idempotent. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#sending;
    try {
      this.#client ??= await connect(this.#options, this.#nodeId);
      await this.#client.query("UPDATE convoke.nodes SET dead_at = clock_timestamp() WHERE id = $1", [
        this.#nodeId,
      ]);
      await this.#client.end();
    } catch (error) {
      // Without the database the end cannot be recorded; the other nodes notice that the heartbeat stands still.
      this.#options.onFailure(error);
      if (this.#client !== null) breakOff(this.#client);
    }
  }

  #schedule(): void {
    this.#timer = setTimeout(() => this.#sendNow(), this.#everyMs);
    this.#timer.unref();
  }

  #sendNow(): void {
    this.#sending = this.#send().finally(() => {
      if (!this.#isClosed) this.#schedule();
    });
  }

  /** Never rejects: when the database is unavailable, the next heartbeat retries. */
  async #send(): Promise<void> {
    const late = setTimeout(() => {
      if (this.#client !== null) breakOff(this.#client);
    }, maxHeartbeatMs);
    try {
      this.#client ??= await connect(this.#options, this.#nodeId);
      await this.#sendOn(this.#client);
    } catch (error) {
      if (!this.#isClosed) this.#options.onFailure(error);
      if (this.#client !== null) breakOff(this.#client);
      this.#client = null;
    } finally {
      clearTimeout(late);
    }
  }

  async #sendOn(client: Client): Promise<void> {
    await this.#options.timeline.note(client);
    const sentMs = performance.now();
    const { rows } = await client.query<HeartbeatRow>(heartbeatSql, [this.#nodeId, this.#address]);
    this.#arrivedMs = performance.now();
    this.#clockMs = rows[0]!.nowMs;
    this.#addresses = new Map(rows.map(({ id, address }) => [id, address]));
    const others = rows.flatMap(({ id, heartbeat }): SeenNode[] =>
      id === null || heartbeat === null || id === this.#nodeId ? [] : [{ id, heartbeat }],
    );
    this.#hasOthers = others.length > 0;
    const unproven = this.#unproven;
    const isStill = ({ id, heartbeat }: SeenNode): boolean =>
      unproven === null || unproven.get(id) === heartbeat;
    this.#unproven = new Map(others.filter(isStill).map(({ id, heartbeat }) => [id, heartbeat]));
    const { polls, dead } = poll(this.#polls, performance.now(), this.#everyMs * maxGapFactor, others);
    const isAnyGone = dead.length > 0 || [...this.#polls.nodes.keys()].some((id) => !polls.nodes.has(id));
    this.#polls = polls;
    for (const node of dead) await declareDead(client, node);
    if (isAnyGone) this.#goneListeners.emit();
    if ((rows[0]?.own ?? null) === null) await this.#takeNewName(client);
    this.#soundMs = sentMs;
    for (const resolve of this.#waiting) resolve();
  }

  async #takeNewName(client: Client): Promise<void> {
    this.#soundMs = -Infinity;
    const nodeId = randomUUID();
    await register(client, this.#options, nodeId, this.#address);
    this.#nodeId = nodeId;
    this.#polls = noPolls;
    for (const listener of this.#fencedListeners) {
      try {
        listener();
      } catch (error) {
        // The remaining listeners must still drop what was lost.
        this.#options.onFailure(error);
      }
    }
    // Listeners drop what was lost asynchronously, and waiters must not resume before that.
    await yieldToEventLoop();
  }
}

/** How many polls to wait for another node's heartbeat to move. */
const maxProofPolls = 3;

/** A heartbeat that takes longer has lost its connection. */
const maxHeartbeatMs = 5000;

const nowSql = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

type HeartbeatRow = {
  readonly nowMs: number;
  readonly own: number | null;
  readonly id: string | null;
  readonly heartbeat: number | null;
  readonly address: string | null;
};

const heartbeatSql = `
  WITH beaten AS (
    UPDATE convoke.nodes SET beat = beat + 1, address = $2 WHERE id = $1 AND dead_at IS NULL RETURNING beat
  )
  SELECT ${nowSql} AS "nowMs", (SELECT beat FROM beaten) AS own, n.id, n.beat AS heartbeat, n.address
  FROM (SELECT 1) AS one LEFT JOIN convoke.nodes n ON n.dead_at IS NULL`;

async function connect({ url, timeline }: HeartbeatOptions, nodeId: string): Promise<Client> {
  return await openConnection({ url, name: `convoke ${nodeId} beat`, timeline });
}

/** Returns the time of the database's clock, in epoch milliseconds. */
async function register(
  client: Client,
  { machine }: HeartbeatOptions,
  nodeId: string,
  address: string | null,
): Promise<number> {
  const { rows } = await client.query<{ nowMs: number }>(
    `INSERT INTO convoke.nodes (id, address, release, machine) VALUES ($1, $2, $3, $4) RETURNING ${nowSql} AS "nowMs"`,
    [nodeId, address, version, machine],
  );
  // A node without a row counts as dead, so old rows can go.
  await client.query("DELETE FROM convoke.nodes WHERE dead_at < clock_timestamp() - interval '1 day'");
  return rows[0]!.nowMs;
}

/**
 * Races with a late heartbeat on one row; one of the two wins. Ends the dead node's connections: a statement whose
 * connection was lost would otherwise keep its locks.
 */
async function declareDead(client: Client, { id, heartbeat }: SeenNode): Promise<void> {
  const { rowCount } = await client.query(
    "UPDATE convoke.nodes SET dead_at = clock_timestamp() WHERE id = $1 AND beat = $2 AND dead_at IS NULL",
    [id, heartbeat],
  );
  if (rowCount !== 0) await letGo(client, id);
}

/** For a process that the operating system knows to have ended, whatever its heartbeat was. */
export async function declareEnded(connection: Pick<Client, "query">, id: string): Promise<void> {
  await connection.query(
    "UPDATE convoke.nodes SET dead_at = clock_timestamp() WHERE id = $1 AND dead_at IS NULL",
    [id],
  );
  await letGo(connection, id);
}

async function letGo(connection: Pick<Client, "query">, id: string): Promise<void> {
  await connection.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND usename = current_user AND application_name LIKE $1 || '%' AND state <> 'idle'`,
    [`convoke ${id}`],
  );
}
