/**
 * The durable store. Events of one conversation have gapless `seq` from 1; the stored JSON is the exact wire text and is
 * never parsed again on the read path. Everything acknowledged here survives a power cut.
 */
export interface Journal extends AsyncDisposable {
  /** Identifies this process among those that share the store. */
  readonly nodeId: string;
  /** Where else the files of a conversation may be; null where all processes on the store have the same ones, and for no conversation. */
  findPlace(conversationId: string): Promise<LogPlace | null>;

  /** Atomic; `false` when the id is taken (then nothing is written). */
  createConversation(row: NewConversation): Promise<boolean>;
  /**
   * The same, owned by this process from its first moment on, and with `first` in its log: one commit in the place of three. Null when the
   * id is taken, and all or nothing as any append: who is refused has created nothing.
   */
  createClaimed(row: NewConversation, first?: AppendBatch | null): Promise<Lease | null>;
  getConversation(id: string): Promise<ConversationRow | null>;
  /** Whose it is, without reading more of its row; null where there is none, and for a fork that does not have all its events. */
  ownerOf(id: string): Promise<string | null>;
  /** In the order of `ids`, null for misses. */
  getConversations(ids: readonly string[]): Promise<(ConversationRow | null)[]>;
  searchConversations(query: ConversationQuery): Promise<ConversationPage>;
  countConversations(filter: ConversationFilter): Promise<number>;
  /** Those of one owner that pass a filter, the last changed first; a page costs what it reads of one index. */
  searchSummaries(query: SummaryQuery): Promise<ConversationPage>;
  /** Conversations of one owner with facts of the app, by their creation. */
  searchAppConversations(query: AppConversationQuery): Promise<ConversationPage>;
  countAppConversations(filter: AppConversationFilter): Promise<number>;
  /** What its owner keeps about a conversation beside its log; needs no lease. False when there is none. */
  markConversation(id: string, marks: MarkChange): Promise<boolean>;
  /**
   * Conversations with `isActive`, whose runs must resume after a restart, that this process does not own, with the process that does or
   * did; null where nobody does. A store that knows which processes live leaves out what they own.
   */
  listActiveElsewhere(): Promise<{ readonly id: string; readonly nodeId: string | null }[]>;
  /** Those of them that the store says this process owns, whether it knows of the lease or not; copies that are being made too. */
  listActiveHere(): Promise<string[]>;
  /** Removes the conversation and its events; needs the lease. */
  deleteConversation(lease: Lease): Promise<void>;

  /** Takes ownership for writing. Fails with {@link LeaseHeldError} while another live process owns it; fences the previous owner. */
  claim(conversationId: string): Promise<Lease>;
  /** The same for several, in their order; an owned one gives its owner. Null for a missing one and for one that is being written to. */
  claimMany(conversationIds: readonly string[]): Promise<(Lease | LeaseHeldError | null)[]>;
  release(lease: Lease): Promise<void>;

  /** All or nothing, durable when it resolves, in call order per conversation. */
  append(lease: Lease, batch: AppendBatch): Promise<void>;

  /** Events with `seq > afterSeq`, ascending, at most `limit`; fewer, but not none, when they are long. */
  read(conversationId: string, afterSeq: number, limit: number): Promise<readonly StoredEvent[]>;
  /** Events of the given kinds in `[fromSeq, toSeq]`, ascending, with their meta. */
  readKinds(
    conversationId: string,
    kinds: readonly string[],
    fromSeq: number,
    toSeq: number,
  ): Promise<EventWithMeta[]>;
  /** The `seq` of the events of a kind, and of a source where one is named, ascending; reads an index alone. */
  findSeqs(conversationId: string, filter: KindFilter): Promise<number[]>;
  lastSeq(conversationId: string): Promise<number>;
  /** How long the events of a log are together, in bytes of JSON; 0 when there is none. */
  sizeOf(conversationId: string): Promise<number>;
  /** Which log it is and how far it has come: a read that gave no damaged event gives the same while both stay. Null when there is none. */
  head(conversationId: string): Promise<LogHead | null> | LogHead | null;
  /** A page has at most `limit` events, and ends before that only with the one that makes it 16 Mi characters long. */
  search(conversationId: string, query: EventQuery): Promise<EventPageText>;
  count(conversationId: string, filter: EventFilter): Promise<number>;
  /** In the order of `ids`; null for misses. */
  getEvents(conversationId: string, ids: readonly string[]): Promise<(EventWithMeta | null)[]>;
  /** What a client message id led to, null when it was never seen. */
  getInboxEntry(conversationId: string, clientId: string): Promise<InboxEntry | null>;
  /** All of them, in no order. */
  listInbox(conversationId: string): Promise<NotedEntry[]>;

  /**
   * Events of all conversations of one owner that have every one of some texts in them, the newest first. An index that is made
   * after the commits answers it: `isComplete` says whether it has read everything, `progress` how much of it.
   */
  searchTexts(query: TextQuery): Promise<TextPage>;

  /** Gives back memory that only makes the next reads faster; for a process at rest. */
  releaseMemory(): void;

  /** Rings after each commit that touched the conversation, also for commits of other processes within a second. Returns the unsubscribe function. */
  onAppend(conversationId: string, onRing: (lastSeq: number) => void): () => void;
  /** Another process reports an append: checks the log now instead of at the next poll. */
  pollNow(conversationId: string): void;
  /** Tells of each commit of this process once it is durable; must return at once. Returns the unsubscribe function. */
  onCommit(listener: (commit: Commit) => void): () => void;
  /**
   * Tells that the store may have gone back to an earlier moment, with what is lost of the logs that this process owns: nothing that is
   * kept in memory of any log can be relied on. Nothing is read from the store before the listener returns. Returns the unsubscribe function.
   */
  onSetBack(listener: (lost: readonly LostEvents[]) => void): () => void;
}

/** What was acknowledged and is not stored any more. */
export type LostEvents = {
  readonly conversationId: string;
  readonly acknowledgedSeq: number;
  /** The event of that place; null for a conversation that had none. */
  readonly lastEventId: string | null;
  /** Where the log ends now. */
  readonly storedSeq: number;
};

export type Commit = {
  readonly type: "created" | "appended" | "deleted" | "marked";
  readonly conversationId: string;
  /** Where the log ends then; 0 for one that is new, gone or marked. */
  readonly lastSeq: number;
  /** From the call until it was durable. */
  readonly durationMs: number;
};

/** Write permission for one conversation; `generation` grows with each claim and older ones are rejected. */
export type Lease = {
  readonly conversationId: string;
  readonly generation: number;
  /** Generations are compared within one: where the store has gone back, they begin again. Absent where no other process could have one. */
  readonly era?: string | undefined;
  /** The last owner had its execution records in another data folder: which calls it had started is unknown here. */
  readonly isFromElsewhere?: true | undefined;
};

export type NewEvent = {
  /** UUIDv7, strictly increasing per conversation. */
  readonly id: string;
  /** UTC, microseconds since the epoch, strictly increasing per conversation. */
  readonly timestampMicros: number;
  readonly kind: string;
  readonly source: string;
  /** The exact wire JSON. */
  readonly json: string;
  /** Searchable text of a MessageEvent, as written; null for other kinds. */
  readonly text: string | null;
  /** Private JSON that never goes out unless asked for. */
  readonly meta: string | null;
};

export type AppendBatch = {
  /** The `seq` of the last event the writer knows; anything else is a {@link SeqConflictError}. */
  readonly expectedSeq: number;
  readonly events: readonly NewEvent[];
  /** Row changes that commit together with the events. */
  readonly conversation?: ConversationPatch;
  readonly inbox?: NotedEntry;
};

/** `digest` tells a retry (same content) from a reuse of the id for something else. */
export type InboxEntry = { readonly eventId: string; readonly digest: string };
export type NotedEntry = InboxEntry & { readonly clientId: string };

/** `log` names one log for ever: one of the same conversation id, made after the first was deleted, has another. */
export type LogHead = {
  readonly log: number;
  readonly lastSeq: number;
  /** Null for a fork that does not have all its events. */
  readonly ownerId: string | null;
};

/** Processes by their {@link Journal.nodeId}, null where there is none. */
export type LogPlace = {
  /** That works on it and lives. */
  readonly owner: string | null;
  /** A live node on the machine of the last owner, or of the creator. */
  readonly machineNode: string | null;
};

export type StoredEvent = { readonly seq: number; readonly id: string; readonly json: string };
export type EventWithMeta = StoredEvent & { readonly meta: string | null };

export type NewConversation = {
  readonly id: string;
  readonly ownerId: string;
  readonly createdAtMicros: number;
  /** The sandbox that its tools run in. */
  readonly sandboxId: string | null;
  /** The conversation that it is a part of. */
  readonly parentId: string | null;
  /** The server that its tools run on, where that is not the one that answers. */
  readonly host: string | null;
  /**
   * What the app keeps of a conversation that it has started in a sandbox, a JSON object; null for every other one. The journal reads its
   * `parent_id` when the row is made: the conversation that it is listed below.
   */
  readonly appFacts: string | null;
} & ConversationFields;

/** Nothing is marked. */
export const noMarks: ConversationMarks = { isPinned: false, isArchived: false, readEventId: null };

/** Mutable fields. The JSON texts are opaque to the journal. */
export type ConversationFields = {
  readonly title: string | null;
  readonly executionStatus: string;
  /** True while a run must resume after a restart. */
  readonly isActive: boolean;
  /** True until a fork has all its events. It is in no list and no count. */
  readonly isCopying: boolean;
  readonly updatedAtMicros: number;
  /** Configuration as JSON (agent, workspace, policy, tags, ...), without secrets. */
  readonly config: string;
  /** Secrets, sealed by the caller. */
  readonly sealedSecrets: string | null;
  /** Cache of the fold, as JSON, valid at `snapshotSeq`. */
  readonly snapshot: string | null;
  readonly snapshotSeq: number;
};

export type ConversationPatch = Partial<ConversationFields>;
export type ConversationRow = NewConversation & {
  readonly lastSeq: number;
  readonly marks: ConversationMarks;
};

export type ConversationMarks = {
  readonly isPinned: boolean;
  readonly isArchived: boolean;
  /** The newest event that was shown; it only moves forward. Null before the first. */
  readonly readEventId: string | null;
};

export type MarkChange = {
  readonly [Mark in keyof ConversationMarks]?: ConversationMarks[Mark] | undefined;
} & {
  /** Another owner; only who has the lease may give one. */
  readonly ownerId?: string | undefined;
  /** A JSON object whose fields take the place of those that are there; null: the conversation is the app's no more. */
  readonly appFacts?: string | null;
};

export type AppConversationFilter = {
  readonly ownerId: string;
  readonly sandboxId?: string | undefined;
  readonly createdGteMicros?: number | undefined;
  readonly createdLtMicros?: number | undefined;
  /** Those listed below one of them; null: those that are below none. */
  readonly parentIds?: readonly string[] | null | undefined;
};
export type AppConversationQuery = AppConversationFilter & {
  readonly sort: "CREATED_AT" | "CREATED_AT_DESC";
  readonly limit: number;
  /** Id of the first row of this page, unless the filter leaves it out; an unknown one is an {@link UnknownPageError}. */
  readonly pageId?: string | undefined;
};

export type SummaryFilter = {
  /** Case-insensitive parts of the title; it has all of them. */
  readonly titleParts?: readonly string[] | undefined;
  /** Those that have this tag, with this value if one is given. */
  readonly tag?: { readonly key: string; readonly value: string | null } | undefined;
  readonly workingDir?: string | undefined;
  /** One of them; empty for any. */
  readonly statuses?: readonly string[] | undefined;
  readonly isArchived?: boolean | undefined;
  readonly isPinned?: boolean | undefined;
  /** Null: those that are a part of none. */
  readonly parentId?: string | null | undefined;
  readonly updatedGteMicros?: number | undefined;
};
export type SummaryQuery = SummaryFilter & {
  readonly ownerId: string;
  readonly limit: number;
  /** Id of the first row of this page; an unknown one is an {@link UnknownPageError}. */
  readonly pageId?: string | undefined;
};

export type ConversationFilter = {
  readonly ownerId?: string | undefined;
  /** Only together with an owner. */
  readonly sandboxId?: string | undefined;
  readonly executionStatus?: string | undefined;
};
export type ConversationQuery = ConversationFilter & {
  readonly sort: "CREATED_AT" | "CREATED_AT_DESC" | "UPDATED_AT" | "UPDATED_AT_DESC";
  readonly limit: number;
  /** Id of the first row of this page; an unknown one is an {@link UnknownPageError}. */
  readonly pageId?: string | undefined;
};
export type ConversationPage = { readonly items: ConversationRow[]; readonly nextPageId: string | null };

export type EventFilter = {
  readonly kind?: string | undefined;
  readonly source?: string | undefined;
  /** Case-insensitive substring of the message text. */
  readonly body?: string | undefined;
  readonly timestampGteMicros?: number | undefined;
  readonly timestampLtMicros?: number | undefined;
};
export type KindFilter = { readonly kind: string; readonly source?: string };
export type EventQuery = EventFilter & {
  readonly order: "TIMESTAMP" | "TIMESTAMP_DESC";
  readonly limit: number;
  /** Id of the first event of this page; one that this conversation does not have is an {@link UnknownPageError}. */
  readonly pageId?: string | undefined;
};
export type EventPageText = { readonly items: string[]; readonly nextPageId: string | null };

export type TextQuery = {
  readonly ownerId: string;
  /** Folded parts of texts, at least one, none of them empty; each must be in a text of the event. */
  readonly terms: readonly string[];
  readonly conversationId?: string | undefined;
  readonly kind?: string | undefined;
  readonly source?: string | undefined;
  readonly timestampGteMicros?: number | undefined;
  readonly timestampLtMicros?: number | undefined;
  readonly limit: number;
  /** From the page before; anything else is an {@link UnknownPageError}. */
  readonly pageId?: string | undefined;
};
export type TextMatch = {
  readonly conversationId: string;
  readonly eventId: string;
  readonly timestampMicros: number;
  readonly kind: string;
  readonly source: string;
  readonly toolName: string | null;
  /** The text that has most of the terms, as it was written. */
  readonly text: string;
};
export type TextPage = {
  /** In the order of time, the newest first; one instant by conversation. Can be fewer than asked for before the last page. */
  readonly items: readonly TextMatch[];
  readonly nextPageId: string | null;
  readonly isComplete: boolean;
  /** The share of the conversations whose events have all been read, 0 to 1. */
  readonly progress: number;
};

/** Another live process owns the conversation. */
export class LeaseHeldError extends Error {
  override readonly name = "LeaseHeldError";
  /** Its {@link Journal.nodeId}. */
  readonly holder: string | null;

  constructor(message: string, holder: string | null) {
    super(message);
    this.holder = holder;
  }
}

/** There is no such conversation to own. Reads of one answer as an empty log does. */
export class UnknownConversationError extends Error {
  override readonly name = "UnknownConversationError";
}

/** The storage failed (disk full, I/O error); nothing of this request was written, and a later one may work. */
export class JournalWriteError extends Error {
  override readonly name = "JournalWriteError";
  /** The file that could not be written, where there is one. */
  readonly path?: string;
  /** SQLite's result code, where it was SQLite that failed. */
  readonly errcode?: number;

  constructor(
    message: string,
    options?: ErrorOptions & { readonly path?: string; readonly errcode?: number | undefined },
  ) {
    super(message, options);
    if (options?.path !== undefined) this.path = options.path;
    if (options?.errcode !== undefined) this.errcode = options.errcode;
  }
}

/** One stored event cannot be read; the others can. */
export class DamagedEventError extends Error {
  override readonly name = "DamagedEventError";
  readonly conversationId: string;
  readonly seq: number;

  constructor(conversationId: string, seq: number, options?: ErrorOptions) {
    super(`Event ${seq} of conversation ${conversationId} is damaged and cannot be read`, options);
    this.conversationId = conversationId;
    this.seq = seq;
  }
}

/** The lease was taken over; this process must stop writing. */
export class LeaseLostError extends Error {
  override readonly name = "LeaseLostError";
}

/** The log is not where the writer thinks it is. */
export class SeqConflictError extends Error {
  override readonly name = "SeqConflictError";
}

/** A page id that names nothing here. */
export class UnknownPageError extends Error {
  override readonly name = "UnknownPageError";
}
