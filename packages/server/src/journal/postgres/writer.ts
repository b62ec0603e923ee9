import type { NodeHeartbeat } from "../../cluster/node-heartbeat.ts";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";
import { isRefused } from "../../database/postgres/is-refused.ts";
import { breakOff, openConnection } from "../../database/postgres/postgres-connection.ts";
import type { Timeline } from "../../database/postgres/timeline.ts";
import { describeError } from "../../lib/describe-error.ts";
import { LoopPace } from "../../lib/loop-pace.ts";
import { JournalWriteError, LeaseLostError, SeqConflictError } from "../journal.ts";
import { appendName, appendSql, appendValues, partsOf, type PreparedAppend } from "./append-statement.ts";
import type { Classes } from "./classes.ts";

export type WriterDeps = {
  readonly url: string;
  readonly timeline: Timeline;
  readonly classes: Classes;
  /** Read at each use: it changes after this process was declared dead. */
  readonly heartbeat: Pick<NodeHeartbeat, "nodeId">;
};

type Waiting = PreparedAppend & {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
  /** It was sent and nobody answered: it may stand in the log already. */
  isInDoubt: boolean;
};

const groupLimit = 512;
const groupCharacters = 8 * 1024 * 1024;
/** How long appends wait for a database that is unavailable. */
const maxUnavailableMs = 5000;

/**
 * Appends of one turn of the event loop, and those that come while a group is on its way, go together: one statement, one
 * round trip, one commit. A group has one append of a log at most, so that each knows where its log ends.
 */
export class AppendWriter implements AsyncDisposable {
  readonly #deps: WriterDeps;
  /** A group may have hundreds of appends, and each caller continues when it resolves. */
  readonly #pace = new LoopPace();
  #waiting: Waiting[] = [];
  #client: Client | null = null;
  #running: Promise<void> | null = null;
  #isClosed = false;

  constructor(deps: WriterDeps) {
    this.#deps = deps;
  }

  /** Resolves when it is durable. */
  append(append: PreparedAppend): Promise<void> {
    if (this.#isClosed) return Promise.reject(new JournalWriteError("The journal is closed"));
    return new Promise((resolve, reject) => {
      this.#waiting.push({
        ...append,
        resolve: () => this.#pace.enter(resolve),
        reject: (error) => this.#pace.enter(() => reject(error)),
        isInDoubt: false,
      });
      this.#running ??= this.#run();
    });
  }

  /** Waits for what was asked; may be called more than once. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#running;
    await this.#pace.pass();
    await this.#client?.end();
    this.#client = null;
  }

  /** Never rejects: each append gets its own outcome. */
  async #run(): Promise<void> {
    // What else comes in this turn goes along.
    await Promise.resolve();
    while (this.#waiting.length > 0) await this.#write(this.#takeGroup());
    this.#running = null;
  }

  #takeGroup(): Waiting[] {
    const group: Waiting[] = [];
    const later: Waiting[] = [];
    const logs = new Set<number>();
    let characters = 0;
    for (const append of this.#waiting) {
      const isFull = group.length >= groupLimit || characters >= groupCharacters;
      if (isFull || logs.has(append.number)) later.push(append);
      else group.push(append);
      // What comes later for a log must not overtake what had no room.
      logs.add(append.number);
      for (const { json } of append.batch.events) characters += json.length;
    }
    this.#waiting = later;
    return group;
  }

  async #write(group: readonly Waiting[]): Promise<void> {
    const deadlineMs = performance.now() + maxUnavailableMs;
    let rest = group;
    for (let pauseMs = 50; rest.length > 0; pauseMs = Math.min(1000, pauseMs * 2)) {
      try {
        rest = await this.#attempt(rest);
      } catch (error) {
        this.#giveUpConnection();
        for (const append of rest) append.isInDoubt = true;
        if (performance.now() > deadlineMs) return reject(rest, error);
        await sleep(pauseMs);
        rest = await this.#settleDoubt(rest, deadlineMs);
      }
    }
  }

  /** Those to try again: none. Rejects when the connection is lost, and then nobody knows what was written. */
  async #attempt(group: readonly Waiting[]): Promise<readonly Waiting[]> {
    try {
      const written = await this.#send(group);
      const missed: Waiting[] = [];
      for (const append of group) {
        if (written.has(append.number)) append.resolve();
        else missed.push(append);
      }
      if (missed.length > 0) await this.#explain(missed, false);
      return [];
    } catch (error) {
      if (!isRefused(error) && !(error instanceof UnfitError)) throw error;
      // Nothing of the group was written; one by one, only the guilty one is refused.
      if (group.length === 1) reject(group, error);
      else for (const append of group) await this.#write([append]);
      return [];
    }
  }

  async #send(group: readonly Waiting[]): Promise<ReadonlySet<number>> {
    const client = await this.#connect();
    const { classes, heartbeat } = this.#deps;
    const parts = partsOf(group);
    const events = group.flatMap(({ batch }) => batch.events);
    // In the turn in which they are used: a connection that finds another line of the database's history has them forgotten.
    while (!classes.areKnown(events)) await classes.learn(events);
    const values = toValues(() => appendValues(heartbeat.nodeId, group, classes, parts));
    const query = { name: appendName(parts), text: appendSql(parts), values };
    const { rows } = await client.query<{ number: number }>(query);
    return new Set(rows.map(({ number }) => number));
  }

  async #connect(): Promise<Client> {
    const { url, timeline, heartbeat } = this.#deps;
    this.#client ??= await openConnection(
      { url, name: `convoke ${heartbeat.nodeId} write`, timeline },
      () => {
        this.#client = null;
      },
    );
    return this.#client;
  }

  #giveUpConnection(): void {
    if (this.#client !== null) breakOff(this.#client);
    this.#client = null;
  }

  /** Those that were not written and may be sent again. The old statement may still run: whichever comes second writes nothing. */
  async #settleDoubt(group: readonly Waiting[], deadlineMs: number): Promise<readonly Waiting[]> {
    for (;;) {
      try {
        return await this.#explain(group, true);
      } catch (error) {
        this.#giveUpConnection();
        if (performance.now() > deadlineMs) {
          reject(group, error);
          return [];
        }
        await sleep(100);
      }
    }
  }

  /** Tells each append why it was not written, or that it was; answers those that could be written now. */
  async #explain(group: readonly Waiting[], maySendAgain: boolean): Promise<readonly Waiting[]> {
    const client = await this.#connect();
    const { rows } = await client.query<HeadRow>(headsSql, [group.map(({ number }) => number)]);
    const heads = new Map(rows.map((row) => [row.number, row]));
    const again: Waiting[] = [];
    for (const append of group) {
      const { resolve, reject: refuse } = append;
      const reason = this.#reasonOf(append, heads.get(append.number));
      if (reason === "written") resolve();
      else if (reason !== null) refuse(reason);
      else if (maySendAgain) again.push(append);
      else refuse(await this.#lastReason(client, append, heads.get(append.number)!));
    }
    return again;
  }

  /** Null: lease and place are right. */
  #reasonOf({ lease, batch, isInDoubt }: Waiting, head: HeadRow | undefined): Error | "written" | null {
    const { conversationId, generation } = lease;
    if (head === undefined) return new LeaseLostError(`Conversation ${conversationId} was deleted`);
    const lastId = batch.events.at(-1)?.id;
    if (isInDoubt && lastId !== undefined && head.last_id === lastId) return "written";
    if (head.generation !== generation || head.node_id !== this.#deps.heartbeat.nodeId) {
      return new LeaseLostError(
        `Lease ${generation} of conversation ${conversationId} is over, the last one is ${head.generation}`,
      );
    }
    if (head.last_seq === batch.expectedSeq) return null;
    return new SeqConflictError(
      `Conversation ${conversationId} is at ${head.last_seq}, the writer expected ${batch.expectedSeq}`,
    );
  }

  async #lastReason(client: Client, { number, batch }: PreparedAppend, head: HeadRow): Promise<Error> {
    const { inbox, events } = batch;
    if (inbox !== undefined) {
      const { rowCount } = await client.query(
        "SELECT FROM convoke.inbox WHERE number = $1 AND client_id = $2",
        [number, inbox.clientId],
      );
      if (rowCount !== 0) return new SeqConflictError(`Client message ${inbox.clientId} was appended before`);
    }
    const first = events[0];
    if (first !== undefined && first.id <= (head.last_id ?? ""))
      return new RangeError(`The event id ${first.id} is not above the one before`);
    return new RangeError(`The timestamp of event ${first?.id} is not above the one before`);
  }
}

/** A value that has no form in the database: nothing was sent. */
class UnfitError extends Error {
  override readonly name = "UnfitError";
}

function toValues<Values>(encode: () => Values): Values {
  try {
    return encode();
  } catch (cause) {
    throw new UnfitError(describeError(cause), { cause });
  }
}

type HeadRow = {
  readonly number: number;
  readonly generation: number;
  readonly node_id: string | null;
  readonly last_seq: number;
  readonly last_id: string | null;
};

const headsSql =
  "SELECT number, generation, node_id, last_seq, last_id FROM convoke.heads WHERE number = ANY ($1::bigint[])";

function reject(appends: readonly Waiting[], cause: unknown): void {
  const message = `The journal could not store this: ${describeError(cause)}`;
  for (const append of appends) append.reject(new JournalWriteError(message, { cause }));
}
