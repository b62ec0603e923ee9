import { viewKinds, type ViewEvent } from "../agent/history.ts";
import { stampDrafts, type EventDraft, type StampedEvent } from "../journal/event-draft.ts";
import type { AppendBatch, ConversationPatch, ConversationRow, Journal, Lease } from "../journal/journal.ts";
import type { ConversationState } from "./conversation-state.ts";
import { applyEvent } from "./fold.ts";
import { loadState, parseStored, writeSnapshot } from "./load-state.ts";

export type LogDeps = {
  readonly journal: Pick<Journal, "append" | "read" | "readKinds">;
  readonly lease: Lease;
  readonly nowMs: () => number;
};

const isViewKind = new Set<string>(viewKinds);

/** How many events may follow a snapshot before the next one is taken. */
const snapshotEvery = 256;

/** The only writer of one conversation's log. Its state is what is durable, never more. */
export class ConversationLog {
  readonly #deps: LogDeps;
  #state: ConversationState;
  #snapshotSeq: number;
  #view: ViewEvent[] | null = null;
  /** Hides secret values in whatever is about to be stored. */
  mask: (json: string) => string = (json) => json;

  private constructor(deps: LogDeps, state: ConversationState, snapshotSeq: number) {
    this.#deps = deps;
    this.#state = state;
    this.#snapshotSeq = snapshotSeq;
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

  /** Stamps, stores and folds; resolves when durable. On failure nothing has changed. */
  async append(
    drafts: readonly EventDraft[],
    extra: {
      readonly patch?: ConversationPatch;
      readonly inbox?: (eventIds: string[]) => AppendBatch["inbox"];
    } = {},
  ): Promise<StampedEvent[]> {
    const nowMs = this.#deps.nowMs();
    const stamped = stampDrafts(drafts, this.#state, nowMs, this.mask);
    const next: ConversationState = { ...this.#state };
    for (const event of stamped) {
      applyEvent(next, event);
      next.lastMicros = event.record.timestampMicros;
    }
    const isSnapshotDue =
      next.lastSeq - this.#snapshotSeq >= snapshotEvery || next.status !== this.#state.status;
    const inbox = extra.inbox?.(stamped.map(({ record }) => record.id));
    await this.#deps.journal.append(this.#deps.lease, {
      expectedSeq: this.#state.lastSeq,
      events: stamped.map(({ record }) => record),
      conversation: {
        executionStatus: next.status,
        isActive: next.status === "running" || next.approvalDeadlineMs !== null,
        ...(stamped.some(({ event }) => event.kind !== "ConversationStateUpdateEvent")
          ? { updatedAtMicros: next.lastMicros }
          : {}),
        ...(isSnapshotDue ? { snapshot: writeSnapshot(next), snapshotSeq: next.lastSeq } : {}),
        ...extra.patch,
      },
      ...(inbox === undefined ? {} : { inbox }),
    });
    this.#state = next;
    if (isSnapshotDue) this.#snapshotSeq = next.lastSeq;
    this.#view?.push(...stamped.filter(({ event }) => isViewKind.has(event.kind)));
    return stamped;
  }

  /** What the model's history is built from; read once, then kept up to date until {@link forgetView}. */
  async view(): Promise<readonly ViewEvent[]> {
    if (this.#view === null) {
      const stored = await this.#deps.journal.readKinds(
        this.#deps.lease.conversationId,
        viewKinds,
        1,
        this.#state.lastSeq,
      );
      this.#view = stored.map(parseStored);
    }
    return this.#view;
  }

  forgetView(): void {
    this.#view = null;
  }
}
