import { onceUnlessRejected } from "@convoke/protocol";
import { migrate } from "../../cluster/migrate.ts";
import type { NodeHeartbeat } from "../../cluster/node-heartbeat.ts";
import { PostgresNode, type PostgresNodeOptions } from "../../cluster/postgres-node.ts";
import { Listeners } from "../../lib/listeners.ts";
import { Doorbell } from "../doorbell.ts";
import type {
  AppendBatch,
  Commit,
  ConversationFilter,
  MarkChange,
  AppConversationFilter,
  AppConversationQuery,
  ConversationPage,
  ConversationQuery,
  ConversationRow,
  EventFilter,
  EventPageText,
  EventQuery,
  EventWithMeta,
  SummaryQuery,
  InboxEntry,
  Journal,
  KindFilter,
  Lease,
  LeaseHeldError,
  LostEvents,
  LogHead,
  LogPlace,
  NewConversation,
  NotedEntry,
  StoredEvent,
  TextPage,
  TextQuery,
} from "../journal.ts";
import { TailCache } from "../tail-cache.ts";
import { Acknowledged } from "./acknowledged.ts";
import { Appends, checkEvents, endOf } from "./appends.ts";
import { CommitWatch } from "./commit-watch.ts";
import { BodySearch } from "./body-search.ts";
import { Classes } from "./classes.ts";
import { ConversationReader } from "./conversation-reader.ts";
import { ConversationWriter } from "./conversation-writer.ts";
import { Creations } from "./creations.ts";
import { EventReader } from "./event-reader.ts";
import { KindReads } from "./kind-reads.ts";
import { Leases } from "./leases.ts";
import { journalSchema } from "./schema.ts";
import { EventSearch } from "./event-search.ts";
import { TextIndexer } from "./texts/indexer.ts";
import { TextSearch } from "./texts/text-search.ts";
import { Sweeper } from "./sweeper.ts";
import { AppendWriter } from "./writer.ts";

export type PostgresJournalOptions = {
  /** Where notifications come from, when the node's URL goes through a pooler; null: polling only. The same URL when not given. */
  readonly listenUrl?: string | null | undefined;
  /** What went wrong in the background, for a log. Nothing is lost by it: it is tried again. */
  readonly onFailure: (error: unknown) => void;
};

/** Opens the journal of this process on a database that several may share; makes and updates its tables. */
export async function openPostgresJournal(
  options: PostgresJournalOptions & PostgresNodeOptions,
): Promise<Journal> {
  const node = await PostgresNode.open(options);
  try {
    return await openJournalOf(node, options, node);
  } catch (error) {
    await node[Symbol.asyncDispose]();
    throw error;
  }
}

/** The same for a node that is there; `owned` is closed after the journal. */
export async function openJournalOf(
  node: PostgresNode,
  options: PostgresJournalOptions,
  owned: AsyncDisposable | null = null,
): Promise<Journal> {
  await migrate(node.pool, journalSchema);
  return new PostgresJournal(options, node, owned);
}

/** Appends go in groups over one connection; all else is single statements over a pool. */
class PostgresJournal implements Journal {
  readonly #heartbeat: NodeHeartbeat;
  readonly #writer: AppendWriter;
  readonly #writes: ConversationWriter;
  readonly #creations: Creations;
  readonly #leases: Leases;
  readonly #appends: Appends;
  readonly #conversations: ConversationReader;
  readonly #events: EventReader;
  readonly #kinds: KindReads;
  readonly #search: EventSearch;
  readonly #sweeper: Sweeper;
  readonly #textIndexer: TextIndexer;
  readonly #texts: TextSearch;
  readonly #watch: CommitWatch;
  readonly #doorbell = new Doorbell();
  readonly #tails = new TailCache();
  readonly #acknowledged = new Acknowledged();
  readonly #commits = new Listeners<Commit>();
  readonly #setBacks = new Listeners<readonly LostEvents[]>();
  readonly #owned: AsyncDisposable | null;
  readonly #closed = onceUnlessRejected(() => this.#close());

  constructor(
    { listenUrl, onFailure }: PostgresJournalOptions,
    { url, pool, heartbeat, timeline, machine }: PostgresNode,
    owned: AsyncDisposable | null,
  ) {
    const classes = new Classes(pool);
    this.#owned = owned;
    this.#heartbeat = heartbeat;
    this.#writer = new AppendWriter({ url, timeline, classes, heartbeat });
    this.#writes = new ConversationWriter(pool, heartbeat, machine);
    this.#creations = new Creations({ pool, writes: this.#writes, classes, heartbeat });
    this.#conversations = new ConversationReader(pool);
    this.#events = new EventReader(pool);
    this.#kinds = new KindReads(pool);
    this.#search = new EventSearch({ pool, events: this.#events, classes, bodies: new BodySearch(pool) });
    this.#sweeper = new Sweeper(pool, onFailure);
    this.#textIndexer = new TextIndexer(pool, onFailure);
    this.#texts = new TextSearch(pool, this.#textIndexer);
    this.#watch = new CommitWatch({
      listenUrl: listenUrl === undefined ? url : listenUrl,
      onFailure,
      pool,
      doorbell: this.#doorbell,
      heartbeat,
      appends: { isUnderWay: (conversationId) => this.#appends.isUnderWay(conversationId) },
      tails: this.#tails,
    });
    this.#leases = new Leases({
      writes: this.#writes,
      timeline,
      acknowledged: this.#acknowledged,
    });
    this.#appends = new Appends({
      leases: this.#leases,
      writer: this.#writer,
      acknowledged: this.#acknowledged,
      doorbell: this.#doorbell,
      tails: this.#tails,
      watch: this.#watch,
      textIndexer: this.#textIndexer,
    });
    this.#sweeper.start();
    timeline.onTurn(async (connection) => {
      const lost = await this.#acknowledged.findLost(connection);
      classes.forget();
      this.#tails.clear();
      this.#watch.forget();
      this.#setBacks.emit(lost);
      // What was given a number and is gone shares it with what is made next.
      for (const { conversationId } of lost) this.#leases.forget(conversationId);
    });
  }

  get nodeId(): string {
    return this.#heartbeat.nodeId;
  }

  async findPlace(conversationId: string): Promise<LogPlace | null> {
    return await this.#conversations.findPlace(conversationId);
  }

  async createConversation(row: NewConversation): Promise<boolean> {
    const startMs = performance.now();
    const isNew = (await this.#writes.create(row, false)) !== null;
    if (isNew) this.#committed("created", row.id, 0, startMs);
    return isNew;
  }

  async createClaimed(row: NewConversation, first: AppendBatch | null = null): Promise<Lease | null> {
    const startMs = performance.now();
    if (first !== null) checkEvents(row.id, first);
    const held = await (first === null ? this.#writes.create(row, true) : this.#creations.create(row, first));
    if (held === null) return null;
    const lease = this.#leases.take(row.id, held);
    this.#committed("created", row.id, 0, startMs);
    if (first !== null) {
      this.#appends.announce(row.id, held.number, first);
      this.#committed("appended", row.id, endOf(first), startMs);
    }
    return lease;
  }

  async getConversation(id: string): Promise<ConversationRow | null> {
    return (await this.#conversations.get([id]))[0] ?? null;
  }

  async ownerOf(id: string): Promise<string | null> {
    return await this.#conversations.ownerOf(id);
  }

  async getConversations(ids: readonly string[]): Promise<(ConversationRow | null)[]> {
    return await this.#conversations.get(ids);
  }

  async searchConversations(query: ConversationQuery): Promise<ConversationPage> {
    return await this.#conversations.search(query);
  }

  async countConversations(filter: ConversationFilter): Promise<number> {
    return await this.#conversations.count(filter);
  }

  async searchSummaries(query: SummaryQuery): Promise<ConversationPage> {
    return await this.#conversations.searchSummaries(query);
  }

  async searchAppConversations(query: AppConversationQuery): Promise<ConversationPage> {
    return await this.#conversations.searchAppConversations(query);
  }

  async countAppConversations(filter: AppConversationFilter): Promise<number> {
    return await this.#conversations.countAppConversations(filter);
  }

  async markConversation(id: string, marks: MarkChange): Promise<boolean> {
    const startMs = performance.now();
    const isThere = await this.#writes.mark(id, marks);
    if (isThere) this.#committed("marked", id, 0, startMs);
    return isThere;
  }

  async listActiveElsewhere(): Promise<{ id: string; nodeId: string | null }[]> {
    return await this.#conversations.listOrphans();
  }

  async listActiveHere(): Promise<string[]> {
    return await this.#conversations.listActiveOf(this.nodeId);
  }

  async deleteConversation(lease: Lease): Promise<void> {
    const startMs = performance.now();
    await this.#writes.delete(this.#leases.heldBy(lease), lease);
    this.#leases.forget(lease.conversationId);
    this.#tails.forget(lease.conversationId);
    this.#sweeper.start();
    this.#committed("deleted", lease.conversationId, 0, startMs);
  }

  async claim(conversationId: string): Promise<Lease> {
    return await this.#leases.claim(conversationId);
  }

  async claimMany(conversationIds: readonly string[]): Promise<(Lease | LeaseHeldError | null)[]> {
    return await this.#leases.claimMany(conversationIds);
  }

  async release(lease: Lease): Promise<void> {
    await this.#leases.release(lease);
  }

  async append(lease: Lease, batch: AppendBatch): Promise<void> {
    const startMs = performance.now();
    await this.#appends.append(lease, batch);
    this.#committed("appended", lease.conversationId, endOf(batch), startMs);
  }

  async read(conversationId: string, afterSeq: number, limit: number): Promise<readonly StoredEvent[]> {
    return (
      this.#tails.read(conversationId, afterSeq, limit) ??
      (await this.#events.readAfter(conversationId, afterSeq, limit))
    );
  }

  async readKinds(
    conversationId: string,
    kinds: readonly string[],
    fromSeq: number,
    toSeq: number,
  ): Promise<EventWithMeta[]> {
    return await this.#kinds.read(conversationId, kinds, [fromSeq, toSeq]);
  }

  async findSeqs(conversationId: string, filter: KindFilter): Promise<number[]> {
    return await this.#search.findSeqs(conversationId, filter);
  }

  async lastSeq(conversationId: string): Promise<number> {
    return (await this.#events.open(conversationId))?.lastSeq ?? 0;
  }

  async sizeOf(conversationId: string): Promise<number> {
    return await this.#events.sizeOf(conversationId);
  }

  async head(conversationId: string): Promise<LogHead | null> {
    return await this.#events.head(conversationId);
  }

  async search(conversationId: string, query: EventQuery): Promise<EventPageText> {
    return await this.#search.search(conversationId, query);
  }

  async count(conversationId: string, filter: EventFilter): Promise<number> {
    return await this.#search.count(conversationId, filter);
  }

  async getEvents(conversationId: string, ids: readonly string[]): Promise<(EventWithMeta | null)[]> {
    return await this.#events.readByIds(conversationId, ids);
  }

  async getInboxEntry(conversationId: string, clientId: string): Promise<InboxEntry | null> {
    return await this.#conversations.getInboxEntry(conversationId, clientId);
  }

  async listInbox(conversationId: string): Promise<NotedEntry[]> {
    return await this.#conversations.listInbox(conversationId);
  }

  async searchTexts(query: TextQuery): Promise<TextPage> {
    return await this.#texts.search(query);
  }

  /** The memory is the server's. */
  releaseMemory(): void {}

  onAppend(conversationId: string, onRing: (lastSeq: number) => void): () => void {
    const stop = this.#doorbell.listen(conversationId, onRing);
    this.#watch.watch(conversationId);
    return () => {
      stop();
      if (!this.#doorbell.has(conversationId)) this.#tails.forget(conversationId);
    };
  }

  /** The database says so itself. */
  pollNow(): void {}

  onCommit(listener: (commit: Commit) => void): () => void {
    return this.#commits.add(listener);
  }

  onSetBack(listener: (lost: readonly LostEvents[]) => void): () => void {
    return this.#setBacks.add(listener);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#closed();
  }

  async #close(): Promise<void> {
    await this.#writer[Symbol.asyncDispose]();
    await this.#watch[Symbol.asyncDispose]();
    await this.#sweeper[Symbol.asyncDispose]();
    await this.#textIndexer[Symbol.asyncDispose]();
    await this.#owned?.[Symbol.asyncDispose]();
  }

  #committed(type: Commit["type"], conversationId: string, lastSeq: number, startMs: number): void {
    this.#commits.emit({ type, conversationId, lastSeq, durationMs: performance.now() - startMs });
  }
}
