import { randomUUID } from "node:crypto";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import {
  LeaseHeldError,
  UnknownConversationError,
  type AppendBatch,
  type MarkChange,
  type Journal,
  type Lease,
  type NewConversation,
} from "../journal.ts";
import { WriterChannel } from "./channel.ts";
import { CommitNews } from "./commit-news.ts";
import { ConversationReader } from "./conversation-reader.ts";
import { ConversationRows } from "./conversation-rows.ts";
import { AppConversationSearch } from "./app-conversation-search.ts";
import { SummarySearch } from "./summary-search.ts";
import { JournalFile } from "./journal-file.ts";
import { LogReads } from "./log-reads.ts";
import type { WatchdogShared } from "../../lib/watchdog-memory.ts";
import { TextIndexing } from "./texts/indexing.ts";
import { textsFile } from "./texts/tables.ts";
import { TextIndexes } from "./texts/text-indexes.ts";
import { TextSearch } from "./texts/text-search.ts";
import type { WriterThread } from "./writer-thread.ts";

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
  readonly thread?: WriterThread | undefined;
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
    const indexes = new TextIndexes(textsPath, () => indexing.makeAgain());
    return new SqliteJournal(nodeId, writer, new JournalFile(databasePath), { indexing, indexes });
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
  readonly #file: JournalFile;
  readonly #logs: LogReads;
  readonly #conversations: ConversationReader;
  readonly #summaries: SummarySearch;
  readonly #apps: AppConversationSearch;
  readonly #indexing: TextIndexing;
  readonly #indexes: TextIndexes;
  readonly #texts: TextSearch;
  readonly #news: CommitNews;

  constructor(
    nodeId: string,
    writer: WriterChannel,
    file: JournalFile,
    texts: { readonly indexing: TextIndexing; readonly indexes: TextIndexes },
  ) {
    this.nodeId = nodeId;
    this.#writer = writer;
    this.#file = file;
    this.#logs = new LogReads(file, texts.indexes);
    const rows = new ConversationRows(file.database, (conversationId) => this.#logs.lastSeq(conversationId));
    this.#conversations = new ConversationReader(file.database, rows);
    this.#summaries = new SummarySearch(file.database, rows);
    this.#apps = new AppConversationSearch(file.database, rows);
    this.#indexing = texts.indexing;
    this.#indexes = texts.indexes;
    this.#texts = new TextSearch({ ...texts, journal: file.database, events: this.#logs.events });
    this.#news = new CommitNews({
      readVersion: async () => Number(await writer.request({ type: "version" })),
      readLastSeq: (conversationId) => this.#logs.lastSeq(conversationId),
      indexing: texts.indexing,
    });
  }

  async createConversation(row: NewConversation): Promise<boolean> {
    const startMs = performance.now();
    const isNew = (await this.#writer.request({ type: "create", row })) === true;
    if (isNew) this.#news.created(row.id, startMs);
    return isNew;
  }

  async createClaimed(row: NewConversation, first: AppendBatch | null = null): Promise<Lease | null> {
    const startMs = performance.now();
    const generation = await this.#writer.request({ type: "create-claimed", row, first });
    if (generation === null) return null;
    this.#news.created(row.id, startMs);
    if (first !== null) this.#news.appended(row.id, first, startMs);
    return { conversationId: row.id, generation: Number(generation) };
  }

  getConversation: Journal["getConversation"] = async (id) =>
    this.#file.read(() => this.#conversations.get(id));
  ownerOf: Journal["ownerOf"] = async (id) => this.#file.read(() => this.#conversations.ownerOf(id));
  getConversations: Journal["getConversations"] = async (ids) =>
    this.#file.read(() => ids.map((id) => this.#conversations.get(id)));
  searchConversations: Journal["searchConversations"] = async (query) =>
    this.#file.read(() => this.#conversations.search(query));
  countConversations: Journal["countConversations"] = async (filter) =>
    this.#file.read(() => this.#conversations.count(filter));
  searchSummaries: Journal["searchSummaries"] = async (query) =>
    this.#file.read(() => this.#summaries.search(query));
  searchAppConversations: Journal["searchAppConversations"] = async (query) =>
    this.#file.read(() => this.#apps.search(query));
  countAppConversations: Journal["countAppConversations"] = async (filter) =>
    this.#file.read(() => this.#apps.count(filter));

  async markConversation(id: string, marks: MarkChange): Promise<boolean> {
    const startMs = performance.now();
    const isThere = (await this.#writer.request({ type: "mark", id, marks })) === true;
    if (isThere) this.#news.marked(id, startMs);
    return isThere;
  }

  listActiveElsewhere: Journal["listActiveElsewhere"] = async () =>
    this.#file.read(() => this.#conversations.listActiveElsewhere(this.nodeId));
  listActiveHere: Journal["listActiveHere"] = async () =>
    this.#file.read(() => this.#conversations.listActiveHere(this.nodeId));

  async deleteConversation(lease: Lease): Promise<void> {
    const startMs = performance.now();
    await this.#writer.request({ type: "delete", lease });
    this.#news.deleted(lease.conversationId, startMs);
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

  release: Journal["release"] = async (lease) =>
    void (await this.#writer.request({ type: "release", lease }));

  async append(lease: Lease, batch: AppendBatch): Promise<void> {
    const startMs = performance.now();
    await this.#writer.request({ type: "append", lease, batch });
    this.#news.appended(lease.conversationId, batch, startMs);
  }

  read: Journal["read"] = async (conversationId, afterSeq, limit) =>
    this.#news.readTail(conversationId, afterSeq, limit) ??
    this.#logs.readAfter(conversationId, afterSeq, limit);
  readKinds: Journal["readKinds"] = (...asked) => this.#logs.readKinds(...asked);
  findSeqs: Journal["findSeqs"] = (conversationId, filter) => this.#logs.findSeqs(conversationId, filter);
  lastSeq: Journal["lastSeq"] = async (conversationId) => this.#logs.lastSeq(conversationId) ?? 0;
  sizeOf: Journal["sizeOf"] = (conversationId) => this.#logs.sizeOf(conversationId);
  head: Journal["head"] = (conversationId) => this.#logs.head(conversationId);
  search: Journal["search"] = (conversationId, query) => this.#logs.search(conversationId, query);
  count: Journal["count"] = (conversationId, filter) => this.#logs.count(conversationId, filter);
  searchTexts: Journal["searchTexts"] = (query) => this.#file.readLater(this.#texts.search(query));
  getEvents: Journal["getEvents"] = async (conversationId, ids) => this.#logs.getEvents(conversationId, ids);
  getInboxEntry: Journal["getInboxEntry"] = async (conversationId, clientId) =>
    this.#file.read(() => this.#conversations.getInboxEntry(conversationId, clientId));
  listInbox: Journal["listInbox"] = async (conversationId) =>
    this.#file.read(() => this.#conversations.listInbox(conversationId));

  releaseMemory(): void {
    this.#logs.events.releaseMemory();
    this.#file.releaseMemory();
  }

  onAppend: Journal["onAppend"] = (conversationId, onRing) => this.#news.onAppend(conversationId, onRing);
  pollNow: Journal["pollNow"] = (conversationId) => this.#news.pollNow(conversationId);
  onCommit: Journal["onCommit"] = (listener) => this.#news.onCommit(listener);
  findPlace: Journal["findPlace"] = async () => null;

  /** A file goes back only while nobody has it open. */
  onSetBack(): () => void {
    return () => {};
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#news[Symbol.dispose]();
    this.#indexes[Symbol.dispose]();
    await this.#indexing[Symbol.asyncDispose]();
    // The writer closes last, so that it can empty the write-ahead log.
    this.#file[Symbol.dispose]();
    await this.#writer[Symbol.asyncDispose]();
  }
}
