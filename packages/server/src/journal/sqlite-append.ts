import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import type { AppendBatch, ConversationPatch, Lease, NewEvent } from "./journal.ts";
import { toIdBytes } from "./event-id.ts";
import { placeText } from "./sqlite-body.ts";
import { ClassWriter } from "./sqlite-classes.ts";
import { patchColumns } from "./sqlite-requests.ts";
import { maxSeq, positionOf, streamOf } from "./sqlite-schema.ts";
import { Refusal } from "./refusal.ts";

/** Appends inside the caller's transaction. Everything is checked before the first row is written. */
export class AppendStatements {
  readonly #database: DatabaseSync;
  readonly #classes: ClassWriter;
  readonly #nodeId: string;
  readonly #owner: StatementSync;
  readonly #last: StatementSync;
  readonly #insertEvent: StatementSync;
  readonly #findInbox: StatementSync;
  readonly #insertInbox: StatementSync;
  readonly #patches = new Map<string, StatementSync>();
  #texts: [stream: number, characters: number][] = [];

  constructor(database: DatabaseSync, nodeId: string) {
    this.#database = database;
    this.#classes = new ClassWriter(database);
    this.#nodeId = nodeId;
    this.#owner = database.prepare("SELECT number, generation, node_id FROM conversations WHERE id = ?");
    this.#last = database.prepare(
      "SELECT position, id, timestamp FROM events WHERE position BETWEEN ? AND ? ORDER BY position DESC LIMIT 1",
    );
    this.#insertEvent = database.prepare(
      "INSERT INTO events (position, id, timestamp, class, json, text, meta) VALUES (?, ?, ?, ?, ?, ?, ?)",
    );
    this.#findInbox = database.prepare("SELECT 1 FROM inbox WHERE number = ? AND client_id = ?");
    this.#insertInbox = database.prepare("INSERT INTO inbox VALUES (?, ?, ?, ?)");
    this.#owner.setReturnArrays(true);
    this.#last.setReturnArrays(true);
  }

  /** Forgets what an undone transaction has left here. */
  forgetGroup(): void {
    this.#texts = [];
    this.#classes.forget();
  }

  /** The searchable texts appended since the last call: their stream and length. */
  takeTexts(): readonly [stream: number, characters: number][] {
    const texts = this.#texts;
    this.#texts = [];
    return texts;
  }

  /** The conversation's number. */
  checkLease(lease: Lease): number {
    const row = this.#owner.get(lease.conversationId) as unknown as OwnerRow | undefined;
    if (row === undefined)
      throw new Refusal("LeaseLostError", `Conversation ${lease.conversationId} was deleted`);
    const [number, generation, nodeId] = row;
    if (generation !== lease.generation || nodeId !== this.#nodeId) {
      throw new Refusal(
        "LeaseLostError",
        `Lease ${lease.generation} of conversation ${lease.conversationId} was replaced by ${generation}`,
      );
    }
    return number;
  }

  append(lease: Lease, batch: AppendBatch): void {
    const number = this.checkLease(lease);
    const ids = this.#checkBatch(lease.conversationId, number, batch);
    for (const [index, event] of batch.events.entries()) {
      this.#insert(number, batch.expectedSeq + 1 + index, event, ids[index] ?? new Uint8Array());
    }
    if (batch.conversation !== undefined) this.#patch(number, batch.conversation);
    if (batch.inbox !== undefined) {
      this.#insertInbox.run(number, batch.inbox.clientId, batch.inbox.eventId, batch.inbox.digest);
    }
  }

  /** The ids as bytes. */
  #checkBatch(conversationId: string, number: number, batch: AppendBatch): Uint8Array[] {
    const last = this.#last.get(positionOf(number, 1), positionOf(number, maxSeq)) as unknown as
      | LastRow
      | undefined;
    const lastSeq = last === undefined ? 0 : last[0] - positionOf(number, 0);
    if (lastSeq !== batch.expectedSeq) {
      throw new Refusal(
        "SeqConflictError",
        `Conversation ${conversationId} is at ${lastSeq}, the writer expected ${batch.expectedSeq}`,
      );
    }
    if (lastSeq + batch.events.length > maxSeq) {
      throw new Refusal("RangeError", `Conversation ${conversationId} is full: it has ${lastSeq} events`);
    }
    if (batch.inbox !== undefined && this.#findInbox.get(number, batch.inbox.clientId) !== undefined) {
      throw new Refusal("SeqConflictError", `Client message ${batch.inbox.clientId} was appended before`);
    }
    let idBefore = last?.[1] ?? null;
    let timestampBefore = last?.[2] ?? -1;
    return batch.events.map((event) => {
      const id = toIdBytes(event.id);
      if (id === null) throw new Refusal("RangeError", `The event id ${event.id} is no lower-case UUID`);
      if (idBefore !== null && Buffer.compare(idBefore, id) >= 0) {
        throw new Refusal("RangeError", `The event id ${event.id} is not above the one before`);
      }
      if (event.timestampMicros <= timestampBefore) {
        throw new Refusal("RangeError", `The timestamp of event ${event.id} is not above the one before`);
      }
      idBefore = id;
      timestampBefore = event.timestampMicros;
      return id;
    });
  }

  #insert(number: number, seq: number, event: NewEvent, id: Uint8Array): void {
    const classCode = this.#classes.codeOf(event.kind, event.source, event.text !== null);
    const text = placeText(event.text, event.json);
    this.#insertEvent.run(
      positionOf(number, seq),
      id,
      event.timestampMicros,
      classCode,
      event.json,
      text,
      event.meta,
    );
    if (event.text !== null) this.#texts.push([streamOf(number, classCode), event.text.length]);
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
      let statement = this.#patches.get(sql);
      if (statement === undefined) this.#patches.set(sql, (statement = this.#database.prepare(sql)));
      statement.run(...values, number);
    }
  }
}

type OwnerRow = [number: number, generation: number, nodeId: string | null];
type LastRow = [position: number, id: Uint8Array, timestamp: number];
