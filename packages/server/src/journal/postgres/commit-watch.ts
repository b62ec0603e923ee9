import type { NodeHeartbeat } from "../../cluster/node-heartbeat.ts";
import type { Client, Pool } from "pg";
import { breakOff, openConnection } from "../../database/postgres/postgres-connection.ts";
import type { Doorbell } from "../doorbell.ts";
import type { TailCache } from "../tail-cache.ts";

/** The appends of this process. */
interface OwnAppends {
  /** True while one is on its way: it rings itself. */
  isUnderWay(conversationId: string): boolean;
}

export type CommitWatchDeps = {
  /** A direct address of the database: notifications do not pass a pooler. Null: polling only. */
  readonly listenUrl: string | null;
  readonly pool: Pool;
  readonly doorbell: Doorbell;
  readonly heartbeat: Pick<NodeHeartbeat, "nodeId" | "hasOtherNodes">;
  readonly appends: OwnAppends;
  /** A log that others have changed is forgotten before the ring. */
  readonly tails: Pick<TailCache, "forget">;
  /** Told for a log: a look catches up. */
  readonly onFailure: (error: unknown) => void;
};

/** The last place a listened conversation was rung for; `number` is 0 and `lastSeq` null while there is none. */
type Rung = { number: number; lastSeq: number | null };

/** A notification is a hint and may be lost; a poll catches up within a second. */
const pollMs = 800;
const gatherMs = 5;
const channel = "convoke";
/** What one notification can carry, with room for the node's id. */
const payloadCharacters = 7800;

/**
 * Rings for appends of other processes, while somebody listens: by notifications, which no write waits for, and by a poll of
 * the heads beside them. The first notification goes at once, further ones gather.
 */
export class CommitWatch implements AsyncDisposable {
  readonly #deps: CommitWatchDeps;
  readonly #rung = new Map<string, Rung>();
  readonly #unsaid = new Map<number, number>();
  #listener: Client | null = null;
  #pollTimer: NodeJS.Timeout | undefined;
  #saying: Promise<void> | null = null;
  #polling: Promise<void> | null = null;
  #nextPoll: Promise<void> | null = null;
  #isClosed = false;

  constructor(deps: CommitWatchDeps) {
    this.#deps = deps;
  }

  /** Called with each new listener, after it was registered. */
  watch(conversationId: string): void {
    if (this.#rung.has(conversationId)) return;
    this.#rung.set(conversationId, { number: 0, lastSeq: null });
    // Where its log is now; what comes later is news.
    void this.#poll();
    this.#schedule();
  }

  /** Called with each commit of this process. */
  onOwnAppend(conversationId: string, number: number, lastSeq: number): void {
    const rung = this.#rung.get(conversationId);
    if (rung !== undefined) Object.assign(rung, { number, lastSeq });
    if (!this.#deps.heartbeat.hasOtherNodes || this.#isClosed) return;
    this.#unsaid.set(number, lastSeq);
    this.#saying ??= this.#say();
  }

  /** Logs may have become shorter: the next poll rings for all of them. */
  forget(): void {
    for (const rung of this.#rung.values()) Object.assign(rung, { number: 0, lastSeq: null });
    this.#unsaid.clear();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#pollTimer);
    await this.#saying;
    await this.#polling;
    if (this.#listener !== null) breakOff(this.#listener);
  }

  async #say(): Promise<void> {
    while (this.#unsaid.size > 0 && !this.#isClosed) {
      const words = [this.#deps.heartbeat.nodeId];
      let characters = 0;
      for (const [number, lastSeq] of this.#unsaid) {
        const word = `${number}:${lastSeq}`;
        characters += word.length + 1;
        if (characters > payloadCharacters) break;
        words.push(word);
        this.#unsaid.delete(number);
      }
      try {
        await this.#deps.pool.query({
          name: "ring",
          text: "SELECT pg_notify($1, $2)",
          values: [channel, words.join(" ")],
        });
      } catch (error) {
        // The other nodes poll.
        this.#deps.onFailure(error);
      }
      await new Promise((resolve) => setTimeout(resolve, gatherMs));
    }
    this.#saying = null;
  }

  #schedule(): void {
    if (this.#pollTimer !== undefined || this.#isClosed) return;
    this.#pollTimer = setTimeout(() => {
      void this.#poll().finally(() => {
        this.#pollTimer = undefined;
        if (!this.#deps.doorbell.isIdle) this.#schedule();
      });
    }, pollMs);
    this.#pollTimer.unref();
  }

  /** Never rejects: without the database no ring can be due. Calls during a poll share the next one. */
  async #poll(): Promise<void> {
    if (this.#polling !== null) {
      this.#nextPoll ??= this.#polling.then(() => {
        this.#nextPoll = null;
        return this.#poll();
      });
      await this.#nextPoll;
      return;
    }
    if (this.#isClosed) return;
    this.#polling = this.#pollNow().finally(() => {
      this.#polling = null;
    });
    await this.#polling;
  }

  async #pollNow(): Promise<void> {
    const { doorbell, pool } = this.#deps;
    for (const conversationId of this.#rung.keys()) {
      if (!doorbell.has(conversationId)) this.#rung.delete(conversationId);
    }
    if (this.#rung.size === 0) return;
    try {
      await this.#listen();
      const asked = [...this.#rung.keys()];
      const { rows } = await pool.query<{ id: string; number: number; last_seq: number }>(
        `SELECT c.id, h.number, h.last_seq FROM convoke.conversations c JOIN convoke.heads h USING (number)
         WHERE c.id = ANY ($1)`,
        [asked],
      );
      const found = new Map(rows.map((row) => [row.id, row]));
      for (const id of asked) this.#compare(id, found.get(id));
    } catch (error) {
      // The next poll tries again.
      this.#deps.onFailure(error);
    }
  }

  #compare(
    conversationId: string,
    head: { readonly number: number; readonly last_seq: number } | undefined,
  ): void {
    const rung = this.#rung.get(conversationId);
    if (rung === undefined || this.#deps.appends.isUnderWay(conversationId)) return;
    const { number, last_seq: lastSeq } = head ?? { number: 0, last_seq: null };
    // A commit of this process may have come after the poll.
    const isOld = number === rung.number && lastSeq !== null && lastSeq <= (rung.lastSeq ?? -1);
    if (isOld || (number === rung.number && lastSeq === rung.lastSeq)) return;
    // The first poll of an empty log is no news.
    if (rung.number === 0 && lastSeq === 0) Object.assign(rung, { number, lastSeq });
    else this.#ring(conversationId, rung, number, lastSeq);
  }

  #ring(conversationId: string, rung: Rung, number: number, lastSeq: number | null): void {
    Object.assign(rung, { number, lastSeq });
    this.#deps.tails.forget(conversationId);
    this.#deps.doorbell.ring(conversationId, lastSeq ?? 0);
  }

  async #listen(): Promise<void> {
    const { listenUrl, heartbeat } = this.#deps;
    if (listenUrl === null || this.#listener !== null) return;
    const options = { url: listenUrl, name: `convoke ${heartbeat.nodeId} listen` };
    const client = await openConnection(options, () => {
      // Notifications in between are lost: the poll after the new LISTEN compares everything.
      this.#listener = null;
    });
    client.on("notification", ({ payload = "" }) => this.#onNotification(payload));
    this.#listener = client;
    await client.query(`LISTEN ${channel}`);
  }

  #onNotification(payload: string): void {
    const [nodeId, ...words] = payload.split(" ");
    if (nodeId === this.#deps.heartbeat.nodeId || this.#isClosed) return;
    const told = new Map(words.map((word) => word.split(":").map(Number) as [number, number]));
    for (const [conversationId, rung] of this.#rung) {
      const lastSeq = told.get(rung.number);
      if (lastSeq === undefined || this.#deps.appends.isUnderWay(conversationId)) continue;
      if (lastSeq > (rung.lastSeq ?? 0)) this.#ring(conversationId, rung, rung.number, lastSeq);
    }
  }
}
