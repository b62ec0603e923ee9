import { userOfOwner } from "../../../lib/trash-owner.ts";
import type { DatabaseSync } from "node:sqlite";
import { searchTextOf } from "../../search-text.ts";
import { isFull, noMessage, toBlocks } from "../../text-blocks.ts";
import { gramsOfBlock } from "../../text-grams.ts";
import { readText } from "../../text-place.ts";
import { ClassReader } from "../classes.ts";
import { EventReader } from "../event-reader.ts";
import type { LogRange } from "../log-ends.ts";
import { OutOfPlace } from "../schema.ts";
import { packBlock, unpackBlock, type Entry, type StoredBlock } from "./block.ts";
import { scopeWords, tickOf, toWords } from "./tables.ts";

type LogRow = { readonly conversation_id: string; readonly read_seq: number; readonly read_id: string };
type BlockRow = { readonly id: number; readonly entries: StoredBlock };
/** Whose events are in a block; the class is 0 for those that are no messages. */
type Stream = { readonly number: number; readonly ownerId: string; readonly classCode: number };

/**
 * Reads logs into the index, a slice at a time; each slice is one transaction that says how far it came. Many logs share one: what the index
 * does at the end of a transaction costs more than a few texts.
 */
export class TextIndexer {
  readonly #texts: DatabaseSync;
  readonly #events: EventReader;
  readonly #classes: ClassReader;
  readonly #sql: ReturnType<typeof prepareStatements>;

  /** `journal` is only read. */
  constructor(journal: DatabaseSync, texts: DatabaseSync) {
    this.#texts = texts;
    this.#events = new EventReader(journal);
    this.#classes = new ClassReader(journal);
    this.#sql = prepareStatements(journal, texts);
  }

  /** The conversations that are not read to their ends, and those that are gone, the youngest first, and how many there are at all. */
  *compare(): Generator<{ readonly behind: readonly string[]; readonly compared: number }> {
    for (const list of [this.#sql.conversations, this.#sql.logs]) {
      for (let below = Number.MAX_SAFE_INTEGER; ;) {
        const rows = list.all(below) as { number: number; id: string }[];
        const last = rows.at(-1);
        if (last === undefined) break;
        if (last.number >= below) throw new OutOfPlace(last.number);
        below = last.number;
        const behind = rows.filter(({ number, id }) => this.#isBehind(number, id)).map(({ id }) => id);
        yield { behind, compared: list === this.#sql.conversations ? rows.length : 0 };
      }
    }
  }

  /**
   * Reads on in one log after another, or removes what is left of those that are gone, until `isOver`; the ones of which nothing is left to
   * do.
   */
  runSlice(conversationIds: Iterable<string>, isOver: () => boolean): string[] {
    const done: string[] = [];
    this.#texts.exec("BEGIN IMMEDIATE");
    try {
      for (const id of conversationIds) {
        let isDone: boolean;
        do isDone = this.#events.snapshot(() => this.#work(id));
        while (!isDone && !isOver());
        if (isDone) done.push(id);
        if (isOver()) break;
      }
      this.#texts.exec("COMMIT");
      return done;
    } catch (error) {
      if (this.#texts.isTransaction) this.#texts.exec("ROLLBACK");
      throw error;
    }
  }

  #isBehind(number: number, conversationId: string): boolean {
    return this.#events.snapshot(() => {
      const log = this.#events.open(conversationId);
      const row = this.#sql.log.get(number) as LogRow | undefined;
      if (log === null || row === undefined || log.number !== number) return true;
      return row.read_seq !== log.lastSeq || !this.#isOf(log, row);
    });
  }

  /** False for what was read of another log: a data folder can be put back to an older state. */
  #isOf(log: LogRange, row: LogRow): boolean {
    if (row.conversation_id !== log.conversationId || row.read_seq > log.lastSeq) return false;
    return row.read_seq === 0 || this.#events.idAt(log, row.read_seq) === row.read_id;
  }

  #work(conversationId: string): boolean {
    const conversation = this.#sql.conversation.get(conversationId);
    const log = conversation === undefined ? null : this.#events.open(conversationId);
    for (const { number } of this.#sql.logsOf.all(conversationId)) {
      if (number !== log?.number) return this.#sweep(Number(number));
    }
    // A fork that is being filled is announced again when it is complete.
    if (log === null || conversation?.["is_copying"] === 1) return true;
    const row = this.#sql.log.get(log.number) as LogRow | undefined;
    if (row !== undefined && !this.#isOf(log, row)) {
      this.#sweep(log.number);
      return false;
    }
    const readSeq = row?.read_seq ?? 0;
    if (row !== undefined && readSeq === log.lastSeq) return true;
    return this.#readOn(log, readSeq, String(conversation?.["owner_id"]));
  }

  #readOn(log: LogRange, readSeq: number, ownerId: string): boolean {
    const events = this.#events.readRange(log, readSeq + 1, log.lastSeq, readSlice);
    const messageKinds = new Set(this.#classes.select(({ hasText }) => hasText).map(({ kind }) => kind));
    const entries = new Map<number, Entry[]>();
    for (const { seq, json } of events) {
      const found = searchTextOf(json);
      if (found === null) continue;
      const { classCode, body } = messageKinds.has(found.kind) ? this.#bodyAt(log, seq) : other;
      if (found.texts.length === 0 && body === null) continue;
      const entry = { seq, at: this.#events.microsAt(log, seq), ...found, body };
      entries.set(classCode, [...(entries.get(classCode) ?? []), entry]);
    }
    for (const [classCode, some] of entries) this.#store({ number: log.number, ownerId, classCode }, some);
    const last = events.at(-1);
    this.#sql.keepLog.run(log.number, log.conversationId, last?.seq ?? readSeq, last?.id ?? "");
    return (last?.seq ?? readSeq) >= log.lastSeq;
  }

  #bodyAt(log: LogRange, seq: number): { readonly classCode: number; readonly body: string | null } {
    const [, , , classCode, json, place] = this.#events.find(log, seq) ?? [];
    const body = place == null ? null : readText(place, json ?? "");
    return body === null || classCode === undefined ? other : { classCode, body };
  }

  /** A last block that is not full grows by being written again. */
  #store(stream: Stream, entries: readonly Entry[]): void {
    const last = this.#sql.lastBlock.get(stream.number, stream.classCode) as BlockRow | undefined;
    let open: Entry[] = last === undefined ? [] : unpackBlock(last.entries);
    if (last !== undefined && !isFull(open, entries[0]!)) this.#remove(last.id);
    else open = [];
    for (const block of toBlocks([...open, ...entries])) this.#close(stream, block);
  }

  #close(stream: Stream, entries: readonly Entry[]): void {
    const { number, ownerId, classCode } = stream;
    const id = this.#freeId(stream, tickOf(entries.at(-1)!.at));
    this.#sql.insertBlock.run(id, number, classCode, entries[0]!.seq, entries[0]!.at);
    this.#sql.insertPack.run(id, packBlock(entries));
    const words = new Set([scopeWords.owner(userOfOwner(ownerId)), scopeWords.log(number)]);
    if (classCode !== noMessage) words.add(scopeWords.messages(number, classCode));
    for (const { kind, source } of entries) words.add(scopeWords.kind(kind)).add(scopeWords.source(source));
    this.#sql.insertWords.run(id, [...words, ...toWords(gramsOfBlock(entries))].join(" "));
  }

  #freeId({ number, classCode }: Stream, tick: number): number {
    const before = Number(this.#sql.lastId.get(number, classCode)?.["id"] ?? 0);
    const first = Math.max(tick, before + 1);
    const isTaken = this.#sql.takenId.get(first) !== undefined;
    const id = isTaken ? Number(this.#sql.nextFree.get(first)?.["id"]) : first;
    if (id > tick) this.#sql.noteDrift.run(id - tick);
    return id;
  }

  #remove(id: number): void {
    this.#sql.deleteWords.run(id);
    this.#sql.deletePack.run(id);
    this.#sql.deleteBlock.run(id);
  }

  #sweep(number: number): boolean {
    const blocks = this.#sql.someBlocks.all(number);
    for (const { id } of blocks) this.#remove(Number(id));
    if (blocks.length === sweepSlice) return false;
    this.#sql.dropLog.run(number);
    return false;
  }
}

function prepareStatements(journal: DatabaseSync, texts: DatabaseSync) {
  return {
    conversation: journal.prepare("SELECT number, owner_id, is_copying FROM conversations WHERE id = ?"),
    conversations: journal.prepare(
      `SELECT number, id FROM conversations WHERE number < ? ORDER BY number DESC LIMIT ${compareSlice}`,
    ),
    log: texts.prepare("SELECT conversation_id, read_seq, read_id FROM logs WHERE number = ?"),
    logsOf: texts.prepare("SELECT number FROM logs WHERE conversation_id = ?"),
    logs: texts.prepare(
      `SELECT number, conversation_id AS id FROM logs WHERE number < ? ORDER BY number DESC LIMIT ${compareSlice}`,
    ),
    keepLog: texts.prepare(
      `INSERT INTO logs VALUES (?, ?, ?, ?) ON CONFLICT (number) DO UPDATE SET
       conversation_id = excluded.conversation_id, read_seq = excluded.read_seq, read_id = excluded.read_id`,
    ),
    dropLog: texts.prepare("DELETE FROM logs WHERE number = ?"),
    lastBlock: texts.prepare(
      `SELECT id, entries FROM blocks JOIN packs USING (id) WHERE number = ? AND class = ?
       ORDER BY first_seq DESC LIMIT 1`,
    ),
    someBlocks: texts.prepare(`SELECT id FROM blocks WHERE number = ? LIMIT ${sweepSlice}`),
    nextFree: texts.prepare(
      `SELECT id + 1 AS id FROM blocks AS taken WHERE id >= ?
       AND NOT EXISTS (SELECT 1 FROM blocks WHERE id = taken.id + 1) ORDER BY id LIMIT 1`,
    ),
    lastId: texts.prepare(
      "SELECT id FROM blocks WHERE number = ? AND class = ? ORDER BY first_seq DESC LIMIT 1",
    ),
    takenId: texts.prepare("SELECT 1 FROM blocks WHERE id = ?"),
    noteDrift: texts.prepare("UPDATE drift SET ticks = max(ticks, ?)"),
    insertBlock: texts.prepare("INSERT INTO blocks VALUES (?, ?, ?, ?, ?)"),
    insertPack: texts.prepare("INSERT INTO packs VALUES (?, ?)"),
    deleteBlock: texts.prepare("DELETE FROM blocks WHERE id = ?"),
    deletePack: texts.prepare("DELETE FROM packs WHERE id = ?"),
    insertWords: texts.prepare("INSERT INTO words (rowid, grams) VALUES (CAST(? AS INTEGER), ?)"),
    deleteWords: texts.prepare("DELETE FROM words WHERE rowid = CAST(? AS INTEGER)"),
  };
}

const other = { classCode: noMessage, body: null };
const compareSlice = 200;
const readSlice = 512;
const sweepSlice = 50;
