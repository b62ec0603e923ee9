import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import type { AppendBatch, ConversationPatch, Lease, NewEvent } from "../journal.ts";
import { isIdBytes, toIdBytes, toIdText } from "../event-id.ts";
import { placeText } from "../text-place.ts";
import { checksumOf } from "../checksum.ts";
import { ClassWriter } from "./classes.ts";
import { LogEnds } from "./log-ends.ts";
import { patchColumns } from "./requests.ts";
import { maxSeq, MissingEnd, positionOf } from "./schema.ts";
import { Refusal } from "../refusal.ts";
import { CachedStatements } from "../../database/cached-statements.ts";

/** Where a log ends and who may write it. */
type Head = {
  readonly number: number;
  readonly generation: number;
  readonly nodeId: string | null;
  lastSeq: number;
  lastId: string;
  lastMicros: number;
};

/** What the background work has to know about an append. */
export type Appended = {
  readonly recentCount: number;
  readonly recentCharacters: number;
};

/** Appends inside the caller's transaction. Everything is checked before the first row is written. */
export class AppendStatements {
  readonly #classes: ClassWriter;
  readonly #ends: LogEnds;
  readonly #nodeId: string;
  readonly #owner: StatementSync;
  readonly #last: StatementSync;
  readonly #insertRecent: StatementSync;
  readonly #insertSettled: StatementSync;
  readonly #findRecent: StatementSync;
  readonly #findInbox: StatementSync;
  readonly #insertInbox: StatementSync;
  readonly #patches: CachedStatements;
  readonly #heads = new Map<string, Head>();

  constructor(database: DatabaseSync, nodeId: string) {
    this.#patches = new CachedStatements(database);
    this.#classes = new ClassWriter(database);
    this.#ends = new LogEnds(database, (read) => read());
    this.#nodeId = nodeId;
    this.#owner = database.prepare("SELECT number, generation, node_id FROM conversations WHERE id = ?");
    this.#last = database.prepare(
      `SELECT * FROM (SELECT position, id, timestamp FROM recent WHERE position BETWEEN ?1 AND ?2 ORDER BY position DESC LIMIT 1)
       UNION ALL
       SELECT * FROM (SELECT position, id, timestamp FROM events WHERE position BETWEEN ?1 AND ?2 ORDER BY position DESC LIMIT 1)
       ORDER BY position DESC LIMIT 1`,
    );
    const insertInto = (table: string): StatementSync =>
      database.prepare(
        `INSERT INTO ${table} (position, id, timestamp, class, json, text, meta, checksum) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      );
    this.#insertRecent = insertInto("recent");
    this.#insertSettled = insertInto("events");
    this.#findRecent = database.prepare("SELECT 1 FROM recent WHERE position BETWEEN ? AND ? LIMIT 1");
    this.#findInbox = database.prepare("SELECT 1 FROM inbox WHERE number = ? AND client_id = ?");
    this.#insertInbox = database.prepare("INSERT INTO inbox VALUES (?, ?, ?, ?)");
    this.#owner.setReturnArrays(true);
    this.#last.setReturnArrays(true);
  }

  /** Drops what is remembered about all logs: a transaction was undone, or another process has written. */
  forgetAll(): void {
    this.#heads.clear();
    this.#classes.forget();
  }

  /** Drops what is remembered about one log: its lease changes. */
  forget(conversationId: string): void {
    this.#heads.delete(conversationId);
  }

  /** The conversation's number. */
  checkLease(lease: Lease): number {
    return this.#checkedHead(lease).number;
  }

  /** The row that was just written already counts these events. */
  begin(conversationId: string, generation: number): void {
    const [number = 0] = (this.#owner.get(conversationId) ?? []) as unknown as Partial<OwnerRow>;
    this.#keep(conversationId, { number, generation, nodeId: this.#nodeId, ...emptyEnd });
  }

  /** Refuses what could not be appended to a log that is empty. */
  checkFirst(conversationId: string, batch: AppendBatch): void {
    this.#checkBatch(conversationId, emptyLog, batch);
  }

  append(lease: Lease, batch: AppendBatch): Appended {
    const head = this.#checkedHead(lease);
    const ids = this.#checkBatch(lease.conversationId, head, batch);
    const isSettled = this.#canSettle(head, batch.events.length);
    for (const [index, event] of batch.events.entries())
      this.#insert(isSettled, head, event, ids[index] ?? new Uint8Array());
    if (batch.conversation !== undefined) this.#patch(head.number, batch.conversation);
    if (batch.inbox !== undefined) {
      this.#insertInbox.run(head.number, batch.inbox.clientId, batch.inbox.eventId, batch.inbox.digest);
    }
    if (isSettled) return { recentCount: 0, recentCharacters: 0 };
    const recentCharacters = batch.events.reduce((total, { json }) => total + json.length, 0);
    return { recentCount: batch.events.length, recentCharacters };
  }

  /** A large batch fills pages of its own log, so it needs no gathering; but a log's recent events come after its settled ones. */
  #canSettle(head: Head, count: number): boolean {
    if (count < settledBatch) return false;
    return this.#findRecent.get(positionOf(head.number, 0), positionOf(head.number, maxSeq)) === undefined;
  }

  #checkedHead(lease: Lease): Head {
    const { conversationId } = lease;
    const head = this.#heads.get(conversationId) ?? this.#readHead(conversationId);
    if (head === null) throw new Refusal("LeaseLostError", `Conversation ${conversationId} was deleted`);
    if (head.generation !== lease.generation || head.nodeId !== this.#nodeId) {
      throw new Refusal(
        "LeaseLostError",
        `Lease ${lease.generation} of conversation ${conversationId} is over, the last one is ${head.generation}`,
      );
    }
    return head;
  }

  #readHead(conversationId: string): Head | null {
    const owner = this.#owner.get(conversationId) as unknown as OwnerRow | undefined;
    if (owner === undefined) return null;
    const [number, generation, nodeId] = owner;
    const lastSeq = this.#ends.open(conversationId)?.lastSeq ?? 0;
    const end = lastSeq === 0 ? { ...emptyEnd } : this.#readEnd(number, lastSeq);
    const head: Head = { number, generation, nodeId, ...end };
    return this.#keep(conversationId, head);
  }

  #keep(conversationId: string, head: Head): Head {
    if (this.#heads.size >= headLimit) this.#heads.clear();
    this.#heads.set(conversationId, head);
    return head;
  }

  /** What comes behind an event that is gone would hide that it is. */
  #readEnd(number: number, lastSeq: number): Pick<Head, "lastSeq" | "lastId" | "lastMicros"> {
    const position = positionOf(number, lastSeq);
    const row = this.#last.get(position, position) as unknown as LastRow | undefined;
    if (row === undefined || !isIdBytes(row[1])) throw new MissingEnd(lastSeq);
    return { lastSeq, lastId: toIdText(row[1]), lastMicros: row[2] };
  }

  /** The ids as bytes. */
  #checkBatch(conversationId: string, head: Head, batch: AppendBatch): Uint8Array[] {
    if (head.lastSeq !== batch.expectedSeq) {
      throw new Refusal(
        "SeqConflictError",
        `Conversation ${conversationId} is at ${head.lastSeq}, the writer expected ${batch.expectedSeq}`,
      );
    }
    if (head.lastSeq + batch.events.length > maxSeq) {
      throw new Refusal(
        "RangeError",
        `Conversation ${conversationId} is full: it has ${head.lastSeq} events`,
      );
    }
    if (batch.inbox !== undefined && this.#findInbox.get(head.number, batch.inbox.clientId) !== undefined) {
      throw new Refusal("SeqConflictError", `Client message ${batch.inbox.clientId} was appended before`);
    }
    let { lastId, lastMicros } = head;
    return batch.events.map((event) => {
      const id = toIdBytes(event.id);
      if (id === null) throw new Refusal("RangeError", `The event id ${event.id} is no lower-case UUID`);
      if (event.id <= lastId) {
        throw new Refusal("RangeError", `The event id ${event.id} is not above the one before`);
      }
      if (event.timestampMicros <= lastMicros) {
        throw new Refusal("RangeError", `The timestamp of event ${event.id} is not above the one before`);
      }
      lastId = event.id;
      lastMicros = event.timestampMicros;
      return id;
    });
  }

  #insert(isSettled: boolean, head: Head, event: NewEvent, id: Uint8Array): void {
    const { timestampMicros, json, meta } = event;
    const classCode = this.#classes.codeOf(event.kind, event.source, event.text !== null);
    const text = placeText(event.text, json);
    const statement = isSettled ? this.#insertSettled : this.#insertRecent;
    const position = positionOf(head.number, head.lastSeq + 1);
    const checksum = checksumOf(position, { id, timestamp: timestampMicros, classCode, json, text, meta });
    statement.run(position, id, timestampMicros, classCode, json, text, meta, checksum);
    head.lastSeq += 1;
    head.lastId = event.id;
    head.lastMicros = timestampMicros;
  }

  #patch(number: number, patch: ConversationPatch): void {
    for (const table of ["conversations", "conversation_documents"] as const) {
      const columns: string[] = [];
      const values: SQLInputValue[] = [];
      for (const [field, target] of Object.entries(patchColumns)) {
        const value = patch[field as keyof ConversationPatch];
        if (value === undefined || target.table !== table) continue;
        columns.push(`${target.column} = ?`);
        values.push(typeof value === "boolean" ? Number(value) : value);
      }
      if (columns.length === 0) continue;
      const sql = `UPDATE ${table} SET ${columns.join(", ")} WHERE number = ?`;
      this.#patches.get(sql).run(...values, number);
    }
  }
}

const settledBatch = 64;
const emptyEnd = { lastSeq: 0, lastId: "", lastMicros: Number.MIN_SAFE_INTEGER };
/** No conversation has this number. */
const emptyLog: Head = { number: 0, generation: 0, nodeId: null, ...emptyEnd };

/** Logs beyond this many are forgotten and read again. */
const headLimit = 10_000;

type OwnerRow = [number: number, generation: number, nodeId: string | null];
type LastRow = [position: number, id: Uint8Array, timestamp: number];
