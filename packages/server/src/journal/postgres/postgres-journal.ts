import { migrate } from "../../cluster/migrate.ts";
import type { NodeBeat } from "../../cluster/node-beat.ts";
import { PostgresNode, type PostgresNodeOptions } from "../../cluster/postgres-node.ts";
import type { Timeline } from "../../database/postgres/timeline.ts";
import { Doorbell } from "../doorbell.ts";
import { toIdBytes } from "../event-id.ts";
import {
  LeaseLostError,
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
  type LeaseHeldError,
  type LostEvents,
  type LogHead,
  type LogPlace,
  type NewConversation,
  type NotedEntry,
  type StoredEvent,
  type TextPage,
  type TextQuery,
} from "../journal.ts";
import { TailCache } from "../tail-cache.ts";
import { Acknowledged } from "./acknowledged.ts";
import { Bell } from "./bell.ts";
import { BlockIndexer } from "./blocks.ts";
import { BodySearch } from "./body-search.ts";
import { Classes } from "./classes.ts";
import { ConversationReads } from "./conversation-reads.ts";
import { ConversationWrites, ownedBy, type Held } from "./conversation-writes.ts";
import { Creations } from "./creations.ts";
import { EventReads } from "./events.ts";
import { KindReads } from "./kind-reads.ts";
import { journalSchema, maxSeq } from "./schema.ts";
import { EventSearch } from "./search.ts";
import { SaidIndexer } from "./said-index.ts";
import { SaidSearch } from "./said-search.ts";
import { Sweeper } from "./sweeper.ts";
import { AppendWriter } from "./writer.ts";

export type PostgresJournalOptions = {
  /** Where notifications come from, when the way of the node goes through a pooler; null looks only. The same URL when not given. */
  readonly listenUrl?: string | null;
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
  readonly #beat: NodeBeat;
  readonly #timeline: Timeline;
  readonly #writer: AppendWriter;
  readonly #writes: ConversationWrites;
  readonly #creations: Creations;
  readonly #conversations: ConversationReads;
  readonly #events: EventReads;
  readonly #kinds: KindReads;
  readonly #search: EventSearch;
  readonly #blocks: BlockIndexer;
  readonly #sweeper: Sweeper;
  readonly #said: SaidIndexer;
  readonly #saidSearch: SaidSearch;
  readonly #bell: Bell;
  readonly #doorbell = new Doorbell();
  readonly #tails = new TailCache();
  readonly #acknowledged = new Acknowledged();
  readonly #commitListeners = new Set<(commit: Commit) => void>();
  readonly #setBackListeners = new Set<(lost: readonly LostEvents[]) => void>();
  /** Where the logs are that this process owns, or did. */
  readonly #held = new Map<string, Held>();
  /** How many appends of a conversation are on their way. */
  readonly #appends = new Map<string, number>();
  readonly #owned: AsyncDisposable | null;
  #closing: Promise<void> | null = null;

  constructor(
    { listenUrl, onFailure }: PostgresJournalOptions,
    { url, pool, beat, timeline, machine }: PostgresNode,
    owned: AsyncDisposable | null,
  ) {
    const nodeId = (): string => beat.nodeId;
    const classes = new Classes(pool);
    this.#owned = owned;
    this.#beat = beat;
    this.#timeline = timeline;
    this.#writer = new AppendWriter({ url, timeline, classes, nodeId });
    this.#writes = new ConversationWrites(pool, nodeId, machine);
    this.#creations = new Creations({ pool, writes: this.#writes, classes, nodeId });
    this.#conversations = new ConversationReads(pool);
    this.#events = new EventReads(pool);
    this.#kinds = new KindReads(pool);
    this.#search = new EventSearch({ pool, events: this.#events, classes, bodies: new BodySearch(pool) });
    this.#blocks = new BlockIndexer(pool, onFailure);
    this.#sweeper = new Sweeper(pool, onFailure);
    this.#said = new SaidIndexer(pool, onFailure);
    this.#saidSearch = new SaidSearch(pool, this.#said);
    this.#bell = new Bell({
      listenUrl: listenUrl === undefined ? url : listenUrl,
      onFailure,
      pool,
      doorbell: this.#doorbell,
      nodeId,
      hasNeighbours: () => beat.hasNeighbours,
      isAppending: (conversationId) => this.#appends.has(conversationId),
      onForeignAppend: (conversationId) => this.#tails.forget(conversationId),
    });
    this.#sweeper.start();
    timeline.onTurn(async (connection) => {
      const lost = await this.#acknowledged.findLost(connection);
      classes.forget();
      this.#tails.clear();
      this.#bell.forget();
      for (const listener of this.#setBackListeners) listener(lost);
      for (const { conversationId } of lost) this.#acknowledged.forget(conversationId);
    });
  }

  get nodeId(): string {
    return this.#beat.nodeId;
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
    this.#held.set(row.id, held);
    this.#acknowledged.note(row.id, { number: held.number, seq: 0, eventId: null });
    this.#committed("created", row.id, 0, startMs);
    if (first !== null) this.#appended(row.id, held.number, first, startMs);
    return { conversationId: row.id, generation: held.generation, ...this.#era };
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

  async searchGlances(query: GlanceQuery): Promise<ConversationPage> {
    return await this.#conversations.searchGlances(query);
  }

  async markConversation(id: string, marks: Partial<ConversationMarks>): Promise<boolean> {
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
    await this.#writes.delete(this.#heldBy(lease), lease);
    this.#held.delete(lease.conversationId);
    this.#acknowledged.forget(lease.conversationId);
    this.#tails.forget(lease.conversationId);
    this.#sweeper.start();
    this.#committed("deleted", lease.conversationId, 0, startMs);
  }

  async claim(conversationId: string): Promise<Lease> {
    return this.#claimed(conversationId, await this.#writes.claim(conversationId));
  }

  async claimMany(conversationIds: readonly string[]): Promise<(Lease | LeaseHeldError | null)[]> {
    const held = await this.#writes.claimMany(conversationIds);
    const missed = conversationIds.filter((id) => !held.has(id));
    const holders = missed.length === 0 ? new Map<string, string>() : await this.#writes.findHolders(missed);
    return conversationIds.map((id) => {
      const [own, holder] = [held.get(id), holders.get(id)];
      if (own !== undefined) return this.#claimed(id, own);
      return holder === undefined ? null : ownedBy(id, holder);
    });
  }

  #claimed(conversationId: string, held: Held): Lease {
    this.#held.set(conversationId, held);
    this.#acknowledged.note(conversationId, { number: held.number, seq: 0, eventId: null });
    // What a former owner has left.
    this.#blocks.onTexts(held.number, 0);
    const { generation, isFromElsewhere } = held;
    return {
      conversationId,
      generation,
      ...this.#era,
      ...(isFromElsewhere ? { isFromElsewhere: true } : {}),
    };
  }

  async release(lease: Lease): Promise<void> {
    const held = this.#held.get(lease.conversationId);
    if (held?.generation !== lease.generation) return;
    await this.#writes.release(held);
    if (this.#held.get(lease.conversationId) !== held) return;
    this.#held.delete(lease.conversationId);
    this.#acknowledged.forget(lease.conversationId);
  }

  async append(lease: Lease, batch: AppendBatch): Promise<void> {
    const startMs = performance.now();
    const { conversationId } = lease;
    const { number } = this.#heldBy(lease);
    checkEvents(conversationId, batch);
    await this.#appending(conversationId, () => this.#writer.append({ lease, number, batch }));
    this.#appended(conversationId, number, batch, startMs);
  }

  #appended(conversationId: string, number: number, batch: AppendBatch, startMs: number): void {
    const lastSeq = batch.expectedSeq + batch.events.length;
    const lastEvent = batch.events.at(-1);
    if (lastEvent !== undefined)
      this.#acknowledged.note(conversationId, { number, seq: lastSeq, eventId: lastEvent.id });
    if (this.#doorbell.has(conversationId)) this.#tails.add(conversationId, batch.expectedSeq, batch.events);
    this.#bell.onOwnAppend(conversationId, number, lastSeq);
    this.#doorbell.ring(conversationId, lastSeq);
    this.#blocks.onTexts(number, batch.events.filter(({ text }) => text !== null).length);
    if (batch.events.length > 0) this.#said.note(number);
    this.#committed("appended", conversationId, lastSeq, startMs);
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
    const log = await this.#events.open(conversationId);
    if (log === null) return ids.map(() => null);
    const seqs = await this.#events.seqsOfIds(log, ids);
    const found = seqs.filter((seq) => seq !== null);
    const bySeq = new Map((await this.#events.readEach(log, found)).map((event) => [event.seq, event]));
    return seqs.map((seq) => (seq === null ? null : (bySeq.get(seq) ?? null)));
  }

  async getInboxEntry(conversationId: string, clientId: string): Promise<InboxEntry | null> {
    return await this.#conversations.getInboxEntry(conversationId, clientId);
  }

  async listInbox(conversationId: string): Promise<NotedEntry[]> {
    return await this.#conversations.listInbox(conversationId);
  }

  async searchTexts(query: TextQuery): Promise<TextPage> {
    return await this.#saidSearch.search(query);
  }

  /** The memory is the server's. */
  releaseMemory(): void {}

  onAppend(conversationId: string, onRing: (lastSeq: number) => void): () => void {
    const stop = this.#doorbell.listen(conversationId, onRing);
    this.#bell.watch(conversationId);
    return () => {
      stop();
      if (!this.#doorbell.has(conversationId)) this.#tails.forget(conversationId);
    };
  }

  /** The database says so itself. */
  heed(): void {}

  onCommit(listener: (commit: Commit) => void): () => void {
    // One function may listen twice; each subscription is its own.
    const own = (commit: Commit): void => listener(commit);
    this.#commitListeners.add(own);
    return () => void this.#commitListeners.delete(own);
  }

  onSetBack(listener: (lost: readonly LostEvents[]) => void): () => void {
    const own = (lost: readonly LostEvents[]): void => listener(lost);
    this.#setBackListeners.add(own);
    return () => void this.#setBackListeners.delete(own);
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#writer[Symbol.asyncDispose]();
    await this.#bell[Symbol.asyncDispose]();
    await this.#blocks[Symbol.asyncDispose]();
    await this.#sweeper[Symbol.asyncDispose]();
    await this.#said[Symbol.asyncDispose]();
    await this.#owned?.[Symbol.asyncDispose]();
  }

  async #appending(conversationId: string, write: () => Promise<void>): Promise<void> {
    this.#appends.set(conversationId, (this.#appends.get(conversationId) ?? 0) + 1);
    try {
      await write();
    } finally {
      const left = this.#appends.get(conversationId)! - 1;
      if (left === 0) this.#appends.delete(conversationId);
      else this.#appends.set(conversationId, left);
    }
  }

  get #era(): Pick<Lease, "era"> {
    const { era } = this.#timeline;
    return era === null ? {} : { era };
  }

  /** Only this process can have claimed what it writes to. */
  #heldBy({ conversationId, generation }: Lease): Held {
    const held = this.#held.get(conversationId);
    if (held?.generation === generation) return held;
    const last = held === undefined ? "" : `, the last one is ${held.generation}`;
    throw new LeaseLostError(`Lease ${generation} of conversation ${conversationId} is over${last}`);
  }

  #committed(type: Commit["type"], conversationId: string, lastSeq: number, startMs: number): void {
    const commit: Commit = { type, conversationId, lastSeq, durationMs: performance.now() - startMs };
    for (const listener of this.#commitListeners) listener(commit);
  }
}

/** What needs no look at the log; the rest is checked by the statement that writes. */
function checkEvents(conversationId: string, { expectedSeq, events }: AppendBatch): void {
  if (expectedSeq + events.length > maxSeq) {
    throw new RangeError(`Conversation ${conversationId} is full: it has ${expectedSeq} events`);
  }
  for (const [index, { id, timestampMicros }] of events.entries()) {
    const before = events[index - 1];
    if (toIdBytes(id) === null) throw new RangeError(`The event id ${id} is no lower-case UUID`);
    if (before !== undefined && id <= before.id) {
      throw new RangeError(`The event id ${id} is not above the one before`);
    }
    if (before !== undefined && timestampMicros <= before.timestampMicros) {
      throw new RangeError(`The timestamp of event ${id} is not above the one before`);
    }
  }
}
