import { randomUUID } from "node:crypto";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import { Doorbell } from "../doorbell.ts";
import {
  LeaseHeldError,
  UnknownConversationError,
  type AppendBatch,
  type Commit,
  type ConversationFilter,
  type ConversationMarks,
  type ConversationPage,
  type ConversationQuery,
  type ConversationRow,
  type EventFilter,
  type EventPageText,
  type EventQuery,
  type EventWithMeta,
  type GlanceQuery,
  type InboxEntry,
  type Journal,
  type KindFilter,
  type Lease,
  type LogHead,
  type NewConversation,
  type NotedEntry,
  type StoredEvent,
  type TextPage,
  type TextQuery,
} from "../journal.ts";
import { WriterChannel } from "./channel.ts";
import { ConversationReader } from "./conversation-reads.ts";
import { EventReader } from "./events.ts";
import { GlanceSearch } from "./glance-search.ts";
import { inFile } from "../../lib/storage-fault.ts";
import type { WatchdogShared } from "../../lib/watchdog-memory.ts";
import { NeighbourWatch } from "../neighbour-watch.ts";
import { openReaderDatabase } from "./schema.ts";
import { EventSearch } from "./search.ts";
import { TailCache } from "../tail-cache.ts";
import { TextIndexing } from "./texts/indexing.ts";
import { textsFile } from "./texts/tables.ts";
import { TextSearch } from "./texts/text-search.ts";

/** A round this large fills whole pages for dozens of logs that grow at the same time. */
const defaultRoundSize = 2048;

export type SqliteJournalOptions = {
  /** Tests settle in smaller rounds. */
  readonly roundSize?: number;
  /** How long after its start and after commits it begins to index texts; null: with the first search. */
  readonly indexAfterMs?: number | null;
  /** What its thread watches besides. */
  readonly watch?: WatchdogShared | null;
  /** See {@link startWriterThread}; one is started when absent. */
  readonly thread?: Worker | undefined;
};

const defaultIndexAfterMs = 2000;

/** Opens the journal in a folder, which is made when it is not there. Reads no events. */
export async function openSqliteJournal(
  dataDir: string,
  {
    roundSize = defaultRoundSize,
    indexAfterMs = defaultIndexAfterMs,
    watch = null,
    thread,
  }: SqliteJournalOptions = {},
): Promise<Journal> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const databasePath = join(dataDir, "journal.db");
  makePrivateFile(databasePath);
  const nodeId = randomUUID();
  const nodesFolder = join(dataDir, "nodes");
  const writer = await WriterChannel.open({ databasePath, nodesFolder, nodeId, roundSize, watch }, thread);
  try {
    const textsPath = join(dataDir, textsFile);
    const indexing = new TextIndexing({ journalPath: databasePath, textsPath, startAfterMs: indexAfterMs });
    const texts = { path: textsPath, indexing };
    return new SqliteJournal(nodeId, writer, openReaderDatabase(databasePath), databasePath, texts);
  } catch (error) {
    await writer[Symbol.asyncDispose]();
    throw error;
  }
}

/**
 * SQLite gives its side files the mode of the database. An existing file is not opened here: closing it would drop the locks
 * that another connection of this process has on it.
 */
function makePrivateFile(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
}

/** Writes go to one thread; reads are short and happen here. */
class SqliteJournal implements Journal {
  readonly nodeId: string;
  readonly #writer: WriterChannel;
  readonly #database: DatabaseSync;
  readonly #path: string;
  readonly #events: EventReader;
  readonly #search: EventSearch;
  readonly #conversations: ConversationReader;
  readonly #glances: GlanceSearch;
  readonly #indexing: TextIndexing;
  readonly #texts: TextSearch;
  readonly #doorbell = new Doorbell();
  readonly #commitListeners = new Set<(commit: Commit) => void>();
  readonly #tails = new TailCache();
  readonly #neighbours: NeighbourWatch;

  constructor(
    nodeId: string,
    writer: WriterChannel,
    database: DatabaseSync,
    path: string,
    texts: { readonly path: string; readonly indexing: TextIndexing },
  ) {
    this.#path = path;
    this.nodeId = nodeId;
    this.#writer = writer;
    this.#database = database;
    this.#events = new EventReader(database);
    this.#search = new EventSearch(database, this.#events);
    this.#conversations = new ConversationReader(database);
    this.#glances = new GlanceSearch(database);
    this.#indexing = texts.indexing;
    this.#texts = new TextSearch({ ...texts, journal: database, events: this.#events });
    this.#neighbours = new NeighbourWatch({
      doorbell: this.#doorbell,
      readVersion: async () => Number(await writer.request({ type: "version" })),
      readLastSeq: (conversationId) => this.#lastSeqNow(conversationId),
      onForeignAppend: (conversationId) => this.#tails.forget(conversationId),
    });
  }

  async createConversation(row: NewConversation): Promise<boolean> {
    const startMs = performance.now();
    const isNew = (await this.#writer.request({ type: "create", row })) === true;
    if (isNew) this.#committed("created", row.id, 0, startMs);
    return isNew;
  }

  async createClaimed(row: NewConversation, first: AppendBatch | null = null): Promise<Lease | null> {
    const startMs = performance.now();
    const generation = await this.#writer.request({ type: "create-claimed", row, first });
    if (generation === null) return null;
    this.#committed("created", row.id, 0, startMs);
    if (first !== null) this.#appended(row.id, first, startMs);
    return { conversationId: row.id, generation: Number(generation) };
  }

  async getConversation(id: string): Promise<ConversationRow | null> {
    return this.#named(() => this.#conversations.get(id));
  }

  async ownerOf(id: string): Promise<string | null> {
    return this.#named(() => this.#conversations.ownerOf(id));
  }

  async getConversations(ids: readonly string[]): Promise<(ConversationRow | null)[]> {
    return this.#named(() => ids.map((id) => this.#conversations.get(id)));
  }

  async searchConversations(query: ConversationQuery): Promise<ConversationPage> {
    return this.#named(() => this.#conversations.search(query));
  }

  async countConversations(filter: ConversationFilter): Promise<number> {
    return this.#named(() => this.#conversations.count(filter));
  }

  async searchGlances(query: GlanceQuery): Promise<ConversationPage> {
    return this.#named(() => this.#glances.search(query));
  }

  async markConversation(id: string, marks: Partial<ConversationMarks>): Promise<boolean> {
    const startMs = performance.now();
    const isThere = (await this.#writer.request({ type: "mark", id, marks })) === true;
    if (isThere) this.#committed("marked", id, 0, startMs);
    return isThere;
  }

  async listActiveElsewhere(): Promise<{ id: string; nodeId: string | null }[]> {
    return this.#named(() => this.#conversations.listActiveElsewhere(this.nodeId));
  }

  async listActiveHere(): Promise<string[]> {
    return this.#named(() => this.#conversations.listActiveHere(this.nodeId));
  }

  async deleteConversation(lease: Lease): Promise<void> {
    const startMs = performance.now();
    await this.#writer.request({ type: "delete", lease });
    this.#tails.forget(lease.conversationId);
    this.#committed("deleted", lease.conversationId, 0, startMs);
  }

  async claim(conversationId: string): Promise<Lease> {
    const generation = await this.#writer.request({ type: "claim", conversationId });
    return { conversationId, generation: Number(generation) };
  }

  /** What is asked for at once has one commit. */
  async claimMany(conversationIds: readonly string[]): Promise<(Lease | LeaseHeldError | null)[]> {
    return await Promise.all(
      conversationIds.map((id) =>
        this.claim(id).catch((error: unknown) => {
          if (error instanceof LeaseHeldError) return error;
          if (error instanceof UnknownConversationError) return null;
          throw error;
        }),
      ),
    );
  }

  async release(lease: Lease): Promise<void> {
    await this.#writer.request({ type: "release", lease });
  }

  async append(lease: Lease, batch: AppendBatch): Promise<void> {
    const startMs = performance.now();
    await this.#writer.request({ type: "append", lease, batch });
    this.#appended(lease.conversationId, batch, startMs);
  }

  #appended(conversationId: string, batch: AppendBatch, startMs: number): void {
    const lastSeq = batch.expectedSeq + batch.events.length;
    if (this.#doorbell.has(conversationId)) this.#tails.add(conversationId, batch.expectedSeq, batch.events);
    this.#neighbours.onOwnAppend(conversationId, lastSeq);
    this.#doorbell.ring(conversationId, lastSeq);
    this.#committed("appended", conversationId, lastSeq, startMs);
  }

  async read(conversationId: string, afterSeq: number, limit: number): Promise<readonly StoredEvent[]> {
    const kept = this.#tails.read(conversationId, afterSeq, limit);
    if (kept !== null) return kept;
    return this.#readNow(() => {
      const log = this.#events.open(conversationId);
      return log === null ? [] : this.#events.readRange(log, afterSeq + 1, log.lastSeq, limit);
    });
  }

  async readKinds(
    conversationId: string,
    kinds: readonly string[],
    fromSeq: number,
    toSeq: number,
  ): Promise<EventWithMeta[]> {
    const events: EventWithMeta[] = [];
    for (let from = Math.max(1, fromSeq); ; await yieldToEventLoop()) {
      const slice = this.#readKindsSlice(conversationId, kinds, from, toSeq);
      events.push(...slice);
      const last = slice.at(-1);
      if (last === undefined || slice.length < readSlice) return events;
      from = last.seq + 1;
    }
  }

  async findSeqs(conversationId: string, filter: KindFilter): Promise<number[]> {
    const found: number[] = [];
    for (let from = 1; ; await yieldToEventLoop()) {
      const slice = this.#readNow(() => this.#search.findSeqs(conversationId, filter, from, seqSlice));
      for (const seq of slice) found.push(seq);
      if (slice.length < seqSlice) return found;
      from = slice.at(-1)! + 1;
    }
  }

  async lastSeq(conversationId: string): Promise<number> {
    return this.#lastSeqNow(conversationId) ?? 0;
  }

  head(conversationId: string): LogHead | null {
    return this.#named(() => this.#events.head(conversationId));
  }

  search(conversationId: string, query: EventQuery): Promise<EventPageText> {
    return this.#namedLater(this.#search.search(conversationId, query));
  }

  count(conversationId: string, filter: EventFilter): Promise<number> {
    return this.#namedLater(this.#search.count(conversationId, filter));
  }

  searchTexts(query: TextQuery): Promise<TextPage> {
    return this.#namedLater(this.#texts.search(query));
  }

  async getEvents(conversationId: string, ids: readonly string[]): Promise<(EventWithMeta | null)[]> {
    return this.#readNow(() => {
      const log = this.#events.open(conversationId);
      return ids.map((id) => {
        const seq = log === null ? null : this.#events.seqOfId(log, id);
        return log === null || seq === null ? null : this.#events.readOne(log, seq);
      });
    });
  }

  async getInboxEntry(conversationId: string, clientId: string): Promise<InboxEntry | null> {
    return this.#named(() => this.#conversations.getInboxEntry(conversationId, clientId));
  }

  async listInbox(conversationId: string): Promise<NotedEntry[]> {
    return this.#named(() => this.#conversations.listInbox(conversationId));
  }

  releaseMemory(): void {
    this.#events.releaseMemory();
    this.#named(() => this.#database.exec("PRAGMA shrink_memory"));
  }

  onAppend(conversationId: string, onRing: (lastSeq: number) => void): () => void {
    const stop = this.#doorbell.listen(conversationId, onRing);
    this.#neighbours.watch(conversationId);
    return () => {
      stop();
      if (!this.#doorbell.has(conversationId)) this.#tails.forget(conversationId);
    };
  }

  heed(conversationId: string): void {
    this.#neighbours.look(conversationId);
  }

  onCommit(listener: (commit: Commit) => void): () => void {
    // One function may listen twice; each subscription is its own.
    const own = (commit: Commit): void => listener(commit);
    this.#commitListeners.add(own);
    return () => void this.#commitListeners.delete(own);
  }

  async findPlace(): Promise<null> {
    return null;
  }

  /** A file goes back only while nobody has it open. */
  onSetBack(): () => void {
    return () => {};
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#neighbours[Symbol.dispose]();
    this.#texts[Symbol.dispose]();
    await this.#indexing[Symbol.asyncDispose]();
    // The writer closes last, so that it can empty the write-ahead log.
    if (this.#database.isOpen) this.#database.close();
    await this.#writer[Symbol.asyncDispose]();
  }

  #committed(type: Commit["type"], conversationId: string, lastSeq: number, startMs: number): void {
    // An empty log has nothing to be found.
    if (type === "appended" || type === "deleted") this.#indexing.noteChange(conversationId);
    const commit: Commit = { type, conversationId, lastSeq, durationMs: performance.now() - startMs };
    for (const listener of this.#commitListeners) listener(commit);
  }

  /** Reads of one state of the store. */
  #readNow<Result>(read: () => Result): Result {
    return this.#named(() => this.#events.snapshot(read));
  }

  #named<Result>(read: () => Result): Result {
    try {
      return read();
    } catch (error) {
      throw inFile(error, this.#path);
    }
  }

  async #namedLater<Result>(reading: Promise<Result>): Promise<Result> {
    try {
      return await reading;
    } catch (error) {
      throw inFile(error, this.#path);
    }
  }

  #lastSeqNow(conversationId: string): number | null {
    return this.#named(() => this.#events.head(conversationId)?.lastSeq ?? null);
  }

  #readKindsSlice(
    conversationId: string,
    kinds: readonly string[],
    fromSeq: number,
    toSeq: number,
  ): EventWithMeta[] {
    return this.#readNow(() => {
      const log = this.#events.open(conversationId);
      if (log === null) return [];
      const seqs = this.#search.findKinds(log, kinds, fromSeq, Math.min(toSeq, log.lastSeq), readSlice);
      return this.#events.readEach(log, seqs);
    });
  }
}

const readSlice = 500;
const seqSlice = 5_000;
