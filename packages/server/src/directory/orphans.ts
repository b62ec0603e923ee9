import { severalAtOnce } from "../lib/several-at-once.ts";
import { LeaseHeldError, type ConversationRow, type Journal, type Lease } from "../journal/journal.ts";

/** A conversation that this process has just claimed: its row, read after the claim, and its lease. */
export type ClaimedRun = { readonly row: ConversationRow; readonly lease: Lease };

/** What {@link Orphans} needs of the node that adopts runs. */
export interface RunAdopter {
  /** True if this process runs the conversation, or is about to. */
  isOurs(id: string): boolean;
  /** False if its tools cannot be reached from this node, such as those in a sandbox of another server. */
  canHost(row: ConversationRow): Promise<boolean>;
  /** False if its files are not on this node; another server may have them. */
  hasFiles(row: ConversationRow): Promise<boolean>;
  /** Delays opening of these conversations until the returned object is disposed. */
  hold(ids: readonly string[]): Disposable;
  /** Claims the conversation if `claimed` is null, unless another process owns it. */
  resumeRun(id: string, claimed: ClaimedRun | null): Promise<void>;
  /** Called when the poll at startup failed; later polls try again. */
  onFailure(error: unknown): void;
}

export type OrphansDeps = {
  readonly journal: Pick<
    Journal,
    "claimMany" | "getConversations" | "listActiveElsewhere" | "listActiveHere"
  >;
  readonly adopter: RunAdopter;
};

type Listed = Awaited<ReturnType<Journal["listActiveElsewhere"]>>[number];
type Filter = (row: ConversationRow) => Promise<boolean>;

/** Conversations per claim: each statement is a round trip to the database, each commit a disk sync. */
const batchSize = 32;
/** Batches in flight at the same time. */
const batchesAtOnce = 2;

/** `isExtra`: outside the regular interval, because a server has just ended. */
export type PollOptions = { readonly isExtra?: true };

/**
 * Runs whose owner has ended, on any server of the same store: a live server must resume them (P2, P27). The former owner may be this
 * process, if the store was unavailable while it took or released a lease.
 */
export class Orphans {
  readonly #deps: OrphansDeps;
  /** Active conversations that had no owner at the last poll. */
  #ownerless: ReadonlySet<string> = new Set();
  /** Active conversations that this process owned but did not run at the last poll. */
  #strays: ReadonlySet<string> = new Set();
  #isPolling = false;

  constructor(deps: OrphansDeps) {
    this.#deps = deps;
  }

  /**
   * At startup: resumes each run that no live server owns. Resolves with the ids that `isExcluded` excluded. A run whose tools this server
   * cannot reach is resumed too, so that the run reports the error.
   */
  async adoptAll(isExcluded: (id: string) => boolean): Promise<string[]> {
    const listed = await this.#deps.journal.listActiveElsewhere();
    this.#ownerless = ownerlessOf(listed);
    const { adopter } = this.#deps;
    const elsewhere: string[] = [];
    const isHere = async (row: ConversationRow): Promise<boolean> => {
      const isHosted = await adopter.hasFiles(row);
      if (!isHosted) elsewhere.push(row.id);
      return isHosted;
    };
    const due = listed.filter(({ id }) => !isExcluded(id));
    await this.#adoptChosen(due, isHere).catch((error: unknown) => adopter.onFailure(error));
    for (const id of elsewhere) await adopter.resumeRun(id, null);
    return listed.flatMap(({ id }) => (isExcluded(id) ? [id] : []));
  }

  /**
   * Resumes each run whose server has ended; call at intervals. A run without an owner is adopted at the second poll, because its server
   * may be between two steps of a fork. The same holds for runs that this process owns but does not run.
   */
  async poll({ isExtra }: PollOptions = {}): Promise<void> {
    // Two polls at once would claim the same runs twice.
    if (this.#isPolling) return;
    this.#isPolling = true;
    try {
      const { journal, adopter } = this.#deps;
      const listed = await journal.listActiveElsewhere();
      await this.#adoptChosen(
        listed.filter(({ id, nodeId }) => nodeId !== null || this.#ownerless.has(id)),
        (row) => adopter.canHost(row),
      );
      if (isExtra === true) return;
      this.#ownerless = ownerlessOf(listed);
      this.#strays = await this.#pollOwn();
    } finally {
      this.#isPolling = false;
    }
  }

  /** Resumes those that pass the filter and have no live owner. */
  async #adoptChosen(due: readonly Listed[], isEligible: Filter): Promise<void> {
    const living = new Set<string>();
    // One run of each owner first: if its lease is held, the owner lives and its other runs are skipped.
    const owners = new Set<string>();
    const first = due.filter(({ nodeId }) => nodeId !== null && isAdded(owners, nodeId));
    const isFirst = new Set(first);
    await this.#adoptBatch(first, { living, isEligible });
    const rest = due.filter((one) => !isFirst.has(one) && !(one.nodeId !== null && living.has(one.nodeId)));
    await severalAtOnce(inBatches(rest), batchesAtOnce, (batch) =>
      this.#adoptBatch(batch, { living, isEligible }),
    );
  }

  /** Adopts the runs that this process owned but did not run at two polls; returns those of this poll. */
  async #pollOwn(): Promise<Set<string>> {
    const { journal, adopter } = this.#deps;
    const strays = (await journal.listActiveHere()).filter((id) => !adopter.isOurs(id));
    const due = strays.filter((id) => this.#strays.has(id)).map((id) => ({ id }));
    const isEligible: Filter = (row) => adopter.canHost(row);
    const how = { living: new Set<string>(), isEligible };
    await severalAtOnce(inBatches(due), batchesAtOnce, (batch) => this.#adoptBatch(batch, how));
    return new Set(strays);
  }

  /** Claims and resumes those that pass the filter; adds owners that still hold a lease to `living`. */
  async #adoptBatch(
    batch: readonly Pick<Listed, "id">[],
    { living, isEligible }: { readonly living: Set<string>; readonly isEligible: Filter },
  ): Promise<void> {
    if (batch.length === 0) return;
    const { journal, adopter } = this.#deps;
    const rows = await journal.getConversations(batch.map(({ id }) => id));
    const chosen = await Promise.all(
      rows.map(async (row) => (row !== null && (await isEligible(row)) ? [row.id] : [])),
    );
    // Checked last, then held: no other part of this process may claim one of them meanwhile.
    const free = chosen.flat().filter((id) => !adopter.isOurs(id));
    if (free.length === 0) return;
    using _hold = adopter.hold(free);
    const leases: Lease[] = [];
    for (const claim of await journal.claimMany(free)) {
      if (!(claim instanceof LeaseHeldError)) leases.push(...(claim === null ? [] : [claim]));
      else if (claim.holder !== null) living.add(claim.holder);
    }
    // Read again: the former owner may have written until the claim.
    const claimed = await journal.getConversations(leases.map(({ conversationId }) => conversationId));
    await Promise.all(
      leases.map(async (lease, index) => {
        const row = claimed[index] ?? null;
        if (row !== null) await adopter.resumeRun(row.id, { row, lease });
      }),
    );
  }
}

function ownerlessOf(listed: readonly Listed[]): Set<string> {
  return new Set(listed.filter(({ nodeId }) => nodeId === null).map(({ id }) => id));
}

function isAdded<Item>(known: Set<Item>, item: Item): boolean {
  return known.size < known.add(item).size;
}

function inBatches<Item>(items: readonly Item[]): Item[][] {
  return Array.from({ length: Math.ceil(items.length / batchSize) }, (_, index) =>
    items.slice(index * batchSize, (index + 1) * batchSize),
  );
}
