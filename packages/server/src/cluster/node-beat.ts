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
  /** Of this process until it is declared dead; never used before. */
  readonly nodeId: string;
  readonly timeline: Timeline;
  /** Null for a process that keeps no files. */
  readonly machine: string | null;
  /** Between two beats, in milliseconds; 1000 when not given. The same for all nodes of a database. */
  readonly everyMs?: number;
  /** Told for a log: the next beat tries again. */
  readonly onFailure: (error: unknown) => void;
};

const defaultEveryMs = 1000;
/** A looker that looks this many times later than it should begins to count anew. */
const maxGapFactor = 2;
/** After so many beats that did not arrive, others may take this process for dead soon. */
const maxMissedHeartbeats = 3;

/**
 * Says that this process lives, by a number that grows in its row of `nodes`, and declares those dead whose number stands
 * still. No clock is compared. It has a connection of its own: a full pool must not look like a dead node.
 */
export class NodeBeat implements AsyncDisposable {
  readonly #options: HeartbeatOptions;
  readonly #everyMs: number;
  readonly #fencedListeners = new Set<() => void>();
  readonly #goneListeners = new Set<() => void>();
  readonly #waiting = new Set<() => void>();
  #client: Client | null;
  #nodeId: string;
  #polls: NodePolls = noPolls;
  #addresses: ReadonlyMap<string | null, string | null> = new Map();
  /** Those whose rows were there at the first look, with their beats then; null before it. See {@link isHere}. */
  #unproven: ReadonlyMap<string, number> | null = null;
  #hasOthers = true;
  #address: string | null = null;
  /** What the database's clock said at the last beat that arrived. */
  #clockMs: number;
  /** Monotonic time at which its answer came. */
  #arrivedMs = performance.now();
  /** When the last beat was sent of which it is known that it counted. The others have seen it after that. */
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
  static async open(options: HeartbeatOptions): Promise<NodeBeat> {
    const client = await connect(options, options.nodeId);
    const clockMs = await register(client, options, options.nodeId, null);
    return new NodeBeat(options, client, clockMs);
  }

  /** A new one after this process was declared dead: an id is never used again, so that what the old one owned stays lost. */
  get nodeId(): string {
    return this.#nodeId;
  }

  /** False when the last look found nobody else. */
  get hasNeighbours(): boolean {
    return this.#hasOthers;
  }

  /** False when the last beats did not arrive, or this process stood still and does not know what has become of it. */
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

  /** Whole epoch milliseconds by the database's clock; this machine's is not asked. */
  get nowMs(): number {
    return Math.floor(this.#clockMs + (performance.now() - this.#arrivedMs));
  }

  /** The address of this machine on the way to the database; null where that is no network. */
  get localAddress(): string | null {
    const stream = this.#client?.connection.stream;
    return stream instanceof Socket ? (stream.localAddress ?? null) : null;
  }

  /** Tells the others where this process is reached; with the next beat where this one does not arrive. */
  async announce(address: string): Promise<void> {
    this.#address = address;
    await this.#sending;
    clearTimeout(this.#timer);
    this.#sendNow();
    await this.#sending;
  }

  /** Called after this process was declared dead and has its new id. Returns the unsubscribe function. */
  onFenced(listener: () => void): () => void {
    const own = (): void => listener();
    this.#fencedListeners.add(own);
    return () => void this.#fencedListeners.delete(own);
  }

  /** Where another process was reached at the last beat that arrived; null where that is not known. */
  addressOf(nodeId: string): string | null {
    return (this.isSound ? this.#addresses.get(nodeId) : null) ?? null;
  }

  /** True once its beat has moved since this process began to look; see {@link isHere}. */
  hasBeaten(nodeId: string): boolean {
    return this.#unproven?.has(nodeId) === false;
  }

  /**
   * Whether another process beats in this database. A row that was there before may have come with a copy of another one, in which its
   * process goes on: it counts once its beat has moved, which is waited for. True for one that is not there at all.
   */
  async isHere(nodeId: string): Promise<boolean> {
    for (let polls = 0; polls <= maxProofPolls; polls += 1) {
      if (this.hasBeaten(nodeId)) return true;
      await sleep(this.#everyMs);
    }
    return false;
  }

  /** Called when another process is found to live no more. Returns the unsubscribe function. */
  onGone(listener: () => void): () => void {
    const own = (): void => listener();
    this.#goneListeners.add(own);
    return () => void this.#goneListeners.delete(own);
  }

  /** From now on others may take what this process owned. May be called more than once. */
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
      // Without the database nobody can be told; the others see that the beat stands still.
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

  /** Never rejects: without the database nothing is known, and the next beat tries again. */
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
    if (isAnyGone) for (const listener of this.#goneListeners) listener();
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
        // Whoever comes after it gives up what was lost all the same.
        this.#options.onFailure(error);
      }
    }
    // They give up what was lost behind the call, and nobody who waits may go on before that.
    await yieldToEventLoop();
  }
}

/** So many looks are waited for the beat of another process to move. */
const maxProofPolls = 3;

/** A beat that takes longer has lost its connection. */
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

/** What the database's clock says. */
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
  // A node without a row is as dead as one that was declared so.
  await client.query("DELETE FROM convoke.nodes WHERE dead_at < clock_timestamp() - interval '1 day'");
  return rows[0]!.nowMs;
}

/**
 * A late beat wins or loses against this in one row. What the dead node's connections still hold is let go: the lock of a
 * statement whose end was lost on the way would stay otherwise.
 */
async function declareDead(client: Client, { id, heartbeat }: SeenNode): Promise<void> {
  const { rowCount } = await client.query(
    "UPDATE convoke.nodes SET dead_at = clock_timestamp() WHERE id = $1 AND beat = $2 AND dead_at IS NULL",
    [id, heartbeat],
  );
  if (rowCount !== 0) await letGo(client, id);
}

/** For a process that the operating system knows to have ended, whatever its beat was. */
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
