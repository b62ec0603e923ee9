import { onceUnlessRejected } from "@convoke/protocol";
import { migrate } from "../../cluster/migrate.ts";
import type { NodeHeartbeat } from "../../cluster/node-heartbeat.ts";
import { PostgresNode, type PostgresNodeOptions } from "../../cluster/postgres-node.ts";
import { Listeners } from "../../lib/listeners.ts";
import { Doorbell } from "../doorbell.ts";
import type {
  AppendBatch,
  Commit,
  MarkChange,
  Journal,
  Lease,
  LostEvents,
  NewConversation,
} from "../journal.ts";
import { TailCache } from "../tail-cache.ts";
import type { Pool } from "pg";
import { Acknowledged } from "./acknowledged.ts";
import { Appends, checkEvents, endOf } from "./appends.ts";
import { CommitWatch } from "./commit-watch.ts";
import { BodySearch } from "./body-search.ts";
import { Classes } from "./classes.ts";
import { ConversationReader } from "./conversation-reader.ts";
import { ConversationWriter } from "./conversation-writer.ts";
import { Creations } from "./creations.ts";
import { EventReader } from "./event-reader.ts";
import { readKinds } from "./kind-reads.ts";
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
  readonly #pool: Pool;
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
    this.#pool = pool;
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

  findPlace: Journal["findPlace"] = (conversationId) => this.#conversations.findPlace(conversationId);

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

  getConversation: Journal["getConversation"] = async (id) =>
    (await this.#conversations.get([id]))[0] ?? null;
  ownerOf: Journal["ownerOf"] = (id) => this.#conversations.ownerOf(id);
  getConversations: Journal["getConversations"] = (ids) => this.#conversations.get(ids);
  searchConversations: Journal["searchConversations"] = (query) => this.#conversations.search(query);
  countConversations: Journal["countConversations"] = (filter) => this.#conversations.count(filter);
  searchSummaries: Journal["searchSummaries"] = (query) => this.#conversations.searchSummaries(query);
  searchAppConversations: Journal["searchAppConversations"] = (query) =>
    this.#conversations.searchAppConversations(query);
  countAppConversations: Journal["countAppConversations"] = (filter) =>
    this.#conversations.countAppConversations(filter);

  async markConversation(id: string, marks: MarkChange): Promise<boolean> {
    const startMs = performance.now();
    const isThere = await this.#writes.mark(id, marks);
    if (isThere) this.#committed("marked", id, 0, startMs);
    return isThere;
  }

  listActiveElsewhere: Journal["listActiveElsewhere"] = () => this.#conversations.listOrphans();
  listActiveHere: Journal["listActiveHere"] = () => this.#conversations.listActiveOf(this.nodeId);

  async deleteConversation(lease: Lease): Promise<void> {
    const startMs = performance.now();
    await this.#writes.delete(this.#leases.heldBy(lease), lease);
    this.#leases.forget(lease.conversationId);
    this.#tails.forget(lease.conversationId);
    this.#sweeper.start();
    this.#committed("deleted", lease.conversationId, 0, startMs);
  }

  claim: Journal["claim"] = (conversationId) => this.#leases.claim(conversationId);
  claimMany: Journal["claimMany"] = (conversationIds) => this.#leases.claimMany(conversationIds);
  release: Journal["release"] = (lease) => this.#leases.release(lease);

  async append(lease: Lease, batch: AppendBatch): Promise<void> {
    const startMs = performance.now();
    await this.#appends.append(lease, batch);
    this.#committed("appended", lease.conversationId, endOf(batch), startMs);
  }

  read: Journal["read"] = async (conversationId, afterSeq, limit) =>
    this.#tails.read(conversationId, afterSeq, limit) ??
    (await this.#events.readAfter(conversationId, afterSeq, limit));
  readKinds: Journal["readKinds"] = (...asked) => readKinds(this.#pool, ...asked);
  findSeqs: Journal["findSeqs"] = (conversationId, filter) => this.#search.findSeqs(conversationId, filter);
  lastSeq: Journal["lastSeq"] = async (conversationId) =>
    (await this.#events.open(conversationId))?.lastSeq ?? 0;
  sizeOf: Journal["sizeOf"] = (conversationId) => this.#events.sizeOf(conversationId);
  head: Journal["head"] = (conversationId) => this.#events.head(conversationId);
  search: Journal["search"] = (conversationId, query) => this.#search.search(conversationId, query);
  count: Journal["count"] = (conversationId, filter) => this.#search.count(conversationId, filter);
  getEvents: Journal["getEvents"] = (conversationId, ids) => this.#events.readByIds(conversationId, ids);
  getInboxEntry: Journal["getInboxEntry"] = (conversationId, clientId) =>
    this.#conversations.getInboxEntry(conversationId, clientId);
  listInbox: Journal["listInbox"] = (conversationId) => this.#conversations.listInbox(conversationId);
  searchTexts: Journal["searchTexts"] = (query) => this.#texts.search(query);

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

  onCommit: Journal["onCommit"] = (listener) => this.#commits.add(listener);
  onSetBack: Journal["onSetBack"] = (listener) => this.#setBacks.add(listener);

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
