import { commonRanges, pathTo } from "../agent/branches.ts";
import { viewKinds, type ViewEvent } from "../agent/history.ts";
import { stampDrafts, type EventDraft, type StampedEvent } from "../events/event-draft.ts";
import type {
  AppendBatch,
  ConversationPatch,
  ConversationRow,
  EventWithMeta,
  Journal,
  Lease,
} from "../journal/journal.ts";
import type { Clock } from "../lib/clock.ts";
import { parseStored } from "../events/parse-stored.ts";
import type { Mask } from "../security/mask.ts";
import type { ConversationState } from "./state/conversation-state.ts";
import { viewLimits } from "./view-cache.ts";
import { applyEvent, foldedKinds, type FoldedEvent } from "./state/fold.ts";
import { loadState, toCheckpoint, writeSnapshot } from "./state/load-state.ts";

export type LogDeps = {
  readonly journal: Pick<Journal, "append" | "getEvents" | "read" | "readKinds">;
  readonly lease: Lease;
  readonly clock: Clock;
};

const isViewKind = new Set<string>(viewKinds);

/** The maximum number of events of {@link ConversationLog.recent}, and how far back in the log it searches. */
const recentEvents = { max: 64, furthest: 512 } as const;

/** Maximum events of a new log that are cached before the first view. */
const freshEvents = 64;

/** Events between snapshots. */
const snapshotEvery = 256;

/** Events between checkpoints. */
const checkpointEvery = 512;

/** The only writer of one conversation's log. Its state reflects durable events only. */
export class ConversationLog {
  readonly #deps: LogDeps;
  #state: ConversationState;
  #snapshotSeq: number;
  /** The row fields that this log has stored; each set field costs an index write. */
  #stored: Pick<ConversationPatch, "executionStatus" | "isActive"> = {};
  #view: ViewEvent[] | null = null;
  #viewCharacters = 0;
  #recent: ViewEvent[] | null = null;
  /** True while a log that was empty when opened has all its events in memory, so that its first view needs no read. */
  #isFresh: boolean;
  /** Masks secrets in everything that is stored. */
  mask: Mask = (json) => json;

  private constructor(deps: LogDeps, state: ConversationState, snapshotSeq: number) {
    this.#deps = deps;
    this.#state = state;
    this.#snapshotSeq = snapshotSeq;
    this.#isFresh = state.lastSeq === 0;
    if (this.#isFresh) [this.#view, this.#recent] = [[], []];
  }

  static async open(deps: LogDeps, row: ConversationRow): Promise<ConversationLog> {
    return new ConversationLog(deps, await loadState(deps.journal, row), row.snapshotSeq);
  }

  get state(): Readonly<ConversationState> {
    return this.#state;
  }

  get lease(): Lease {
    return this.#deps.lease;
  }

  /** Stamps, stores and folds the drafts; resolves when they are durable. A failure changes nothing. */
  async append(
    drafts: readonly EventDraft[],
    extra: {
      readonly patch?: ConversationPatch;
      readonly inbox?: (eventIds: string[]) => AppendBatch["inbox"];
      /** Drafts for the same commit, computed from the state after the first ones. */
      readonly following?: (next: Readonly<ConversationState>) => readonly EventDraft[];
      /** Called with the events while they are being stored. */
      readonly meanwhile?: (stamped: readonly StampedEvent[]) => void;
    } = {},
  ): Promise<StampedEvent[]> {
    const nowMs = this.#deps.clock.nowMs();
    const next: ConversationState = { ...this.#state };
    const stamped = this.#stamp(withCheckpoint(drafts, this.#state), next, nowMs);
    stamped.push(...this.#stamp(extra.following?.(next) ?? [], next, nowMs));
    const isSnapshotDue =
      next.lastSeq - this.#snapshotSeq >= snapshotEvery || next.status !== this.#state.status;
    const isActive =
      next.status === "running" || next.approvalDeadlineMs !== null || next.goal?.active === true;
    const inbox = extra.inbox?.(stamped.map(({ record }) => record.id));
    const stored = this.#deps.journal.append(this.#deps.lease, {
      expectedSeq: this.#state.lastSeq,
      events: stamped.map(({ record }) => record),
      conversation: {
        ...(next.status === this.#stored.executionStatus ? {} : { executionStatus: next.status }),
        ...(isActive === this.#stored.isActive ? {} : { isActive }),
        ...(stamped.some(({ event }) => event.kind !== "ConversationStateUpdateEvent")
          ? { updatedAtMicros: next.lastMicros }
          : {}),
        ...(isSnapshotDue ? { snapshot: writeSnapshot(next), snapshotSeq: next.lastSeq } : {}),
        ...extra.patch,
      },
      ...(inbox === undefined ? {} : { inbox }),
    });
    // The store request is sent once the queued microtasks have run.
    const { meanwhile } = extra;
    if (meanwhile !== undefined) queueMicrotask(() => meanwhile(stamped));
    await stored;
    this.#state = next;
    this.#stored = { executionStatus: next.status, isActive };
    if (isSnapshotDue) this.#snapshotSeq = next.lastSeq;
    if (stamped.some(({ meta }) => meta.navigation !== undefined)) this.forgetView();
    const added: ViewEvent[] = [];
    for (const { seq, event, meta, record } of stamped) {
      if (!isViewKind.has(event.kind)) continue;
      // Without the record, whose texts repeat the others.
      added.push({ seq, event, meta });
      this.#viewCharacters += charactersOf(record);
    }
    this.#view?.push(...added);
    if (this.#recent !== null) this.#recent = [...this.#recent, ...added].slice(-recentEvents.max);
    if (stamped.some(({ meta }) => meta.keeps !== undefined)) this.#trimView();
    const isTooLong = next.status !== "running" && this.#viewCharacters > viewLimits.one;
    if (isTooLong || (this.#isFresh && next.lastSeq > freshEvents)) this.forgetView();
    return stamped;
  }

  /** Stamps drafts after `next` and advances it. */
  #stamp(drafts: readonly EventDraft[], next: ConversationState, nowMs: number): StampedEvent[] {
    const stamped = stampDrafts(drafts, next, nowMs, this.mask);
    for (const event of stamped) {
      applyEvent(next, event);
      next.lastMicros = event.record.timestampMicros;
    }
    return stamped;
  }

  /**
   * The events that the model's history is built from: the current branch without condensed events (P59). Read once,
   * then updated until {@link forgetView}.
   */
  async view(): Promise<readonly ViewEvent[]> {
    this.#isFresh = false;
    if (this.#view === null) {
      const { lastSeq, navigations, viewStart } = this.#state;
      const needed = [...viewStart.kept, [viewStart.fromSeq, lastSeq] as const];
      const { conversationId } = this.#deps.lease;
      const view: ViewEvent[] = [];
      let characters = 0;
      for (const [from, to] of commonRanges(needed, pathTo(navigations, lastSeq))) {
        for (const stored of await this.#deps.journal.readKinds(conversationId, viewKinds, from, to)) {
          view.push(parseStored(conversationId, stored));
          characters += charactersOf(stored);
        }
      }
      [this.#view, this.#viewCharacters] = [view, characters];
    }
    return this.#view;
  }

  /** The views of all branches, including condensed events; reads the whole log. */
  async wholeView(): Promise<readonly ViewEvent[]> {
    return await this.readKinds(viewKinds, 1, this.#state.lastSeq);
  }

  /** Approximate JSON length of the cached view; 0 if none is cached. */
  get viewCharacters(): number {
    return this.#view === null ? 0 : this.#viewCharacters;
  }

  forgetView(): void {
    this.#isFresh = false;
    this.#view = null;
    this.#viewCharacters = 0;
    this.#recent = null;
  }

  /** The newest view events of the current branch, including condensed ones. */
  async recent(): Promise<readonly ViewEvent[]> {
    if (this.#recent === null) {
      const { lastSeq, navigations, viewStart } = this.#state;
      const from = Math.max(1, lastSeq - recentEvents.furthest);
      // All of them are in the view, which the caller needs too: one read serves both.
      if (viewStart.fromSeq <= from) {
        const view = await this.view();
        this.#recent = view.filter(({ seq }) => seq >= from).slice(-recentEvents.max);
        return this.#recent;
      }
      const newest = [[from, lastSeq] as const];
      const parts: ViewEvent[][] = [];
      for (const [from, to] of commonRanges(newest, pathTo(navigations, lastSeq)))
        parts.push(await this.readKinds(viewKinds, from, to));
      this.#recent = parts.flat().slice(-recentEvents.max);
    }
    return this.#recent;
  }

  /** Events of some kinds on all branches; both bounds inclusive. */
  async readKinds(kinds: readonly string[], fromSeq: number, toSeq: number): Promise<FoldedEvent[]> {
    const { conversationId } = this.#deps.lease;
    const stored = await this.#deps.journal.readKinds(conversationId, kinds, fromSeq, toSeq);
    return stored.map((item) => parseStored(conversationId, item));
  }

  /** Which of the ids exist in this log, optionally of one kind. */
  async knownIds(kind: string | null = null): Promise<ReadonlySet<string>> {
    const view = await this.wholeView();
    const known = view.filter(({ event }) => kind === null || event.kind === kind);
    return new Set(known.flatMap(({ event }) => event.id ?? []));
  }

  /** The event with this id, of any kind and branch; null if there is none. */
  async find(eventId: string): Promise<FoldedEvent | null> {
    const [stored] = await this.#deps.journal.getEvents(this.#deps.lease.conversationId, [eventId]);
    return stored ? parseStored(this.#deps.lease.conversationId, stored) : null;
  }

  #trimView(): void {
    const { kept, fromSeq } = this.#state.viewStart;
    const isInView = ({ seq }: ViewEvent): boolean =>
      seq >= fromSeq || kept.some(([from, to]) => from <= seq && seq <= to);
    if (this.#view === null) return;
    const left = this.#view.filter(isInView);
    this.#viewCharacters *= left.length / Math.max(1, this.#view.length);
    this.#view = left;
  }
}

function charactersOf({ json, meta }: Pick<EventWithMeta, "json" | "meta">): number {
  return json.length + (meta?.length ?? 0);
}

const isFolded = new Set<string>(foldedKinds);

/** Stores a checkpoint with some events: the state before the event, for everybody who folds the log. */
function withCheckpoint(
  drafts: readonly EventDraft[],
  state: Readonly<ConversationState>,
): readonly EventDraft[] {
  if (state.lastSeq - state.checkpointSeq < checkpointEvery) return drafts;
  const at = drafts.findIndex(({ body }) => typeof body !== "function" && isFolded.has(body.kind));
  return drafts.map((draft, index) =>
    index === at ? { ...draft, meta: { ...draft.meta, checkpoint: toCheckpoint(state) } } : draft,
  );
}
