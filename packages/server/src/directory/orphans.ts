import { severalAtOnce } from "../lib/several-at-once.ts";
import { LeaseHeldError, type ConversationRow, type Journal, type Lease } from "../journal/journal.ts";

/** What was claimed just now, as it stands since. */
export type Claimed = { readonly row: ConversationRow; readonly lease: Lease };

/** What this node does with runs that were left behind. */
export interface RunTaker {
  /** True for what this process works on, or is about to. */
  isOurs(id: string): boolean;
  /** False where its tools cannot be reached from here, such as in a sandbox of another server. */
  canHost(row: ConversationRow): Promise<boolean>;
  /** False where its files are not here, so that they may be with another server. */
  hasFiles(row: ConversationRow): Promise<boolean>;
  /** Opening one of them waits until the returned object is disposed. */
  hold(ids: readonly string[]): Disposable;
  /** What is not claimed yet is claimed by it, where nobody else is to have it. */
  goOnWith(id: string, claimed: Claimed | null): Promise<void>;
  /** Runs could not be taken up at a start. Later rounds try again. */
  onFailure(error: unknown): void;
}

export type OrphansDeps = {
  readonly journal: Pick<
    Journal,
    "claimMany" | "getConversations" | "listActiveElsewhere" | "listActiveHere"
  >;
  readonly taker: RunTaker;
};

type Listed = Awaited<ReturnType<Journal["listActiveElsewhere"]>>[number];
type Choice = (row: ConversationRow) => Promise<boolean>;

/** What is claimed and read together: each statement waits for the database, and each commit for its disk. */
const batchSize = 32;
/** While one of them waits, another one is worked on. */
const batchesAtOnce = 2;

/** `isBetween`: one more than those that come now and then, because a server has ended. */
export type RoundOptions = { readonly isBetween?: true };

/**
 * Runs that a server on the same store has left behind: somebody who lives must go on with them (P2, P27). It may have been this one, where
 * the store was away when a lease was to be taken, or given back.
 */
export class Orphans {
  readonly #deps: OrphansDeps;
  /** Active conversations without an owner at the last poll. */
  #ownerless: ReadonlySet<string> = new Set();
  /** Active conversations that this process owned at the last poll and did not work on. */
  #strays: ReadonlySet<string> = new Set();
  #isPolling = false;

  constructor(deps: OrphansDeps) {
    this.#deps = deps;
  }

  /**
   * Goes on at a start with each run that no living server owns, what nobody owns included; resolves with those that are left out. One that
   * this server cannot reach is resumed too: the run gets the reason.
   */
  async takeUpAll(isLeftOut: (id: string) => boolean): Promise<string[]> {
    const listed = await this.#deps.journal.listActiveElsewhere();
    this.#ownerless = ownerlessOf(listed);
    const { taker } = this.#deps;
    const apart: string[] = [];
    const isHere = async (row: ConversationRow): Promise<boolean> => {
      const isHosted = await taker.hasFiles(row);
      if (!isHosted) apart.push(row.id);
      return isHosted;
    };
    const due = listed.filter(({ id }) => !isLeftOut(id));
    await this.#takeAll(due, isHere).catch((error: unknown) => taker.onFailure(error));
    for (const id of apart) await taker.goOnWith(id, null);
    return listed.flatMap(({ id }) => (isLeftOut(id) ? [id] : []));
  }

  /**
   * Resumes each run whose server has ended; call it at intervals. A run without an owner is left alone until the second poll: its
   * server may be between two steps, such as making a fork. So is what this process owns and does not work on.
   */
  async takeUp({ isBetween }: RoundOptions = {}): Promise<void> {
    // A slow poll must not claim again what it has just claimed.
    if (this.#isPolling) return;
    this.#isPolling = true;
    try {
      const { journal, taker } = this.#deps;
      const listed = await journal.listActiveElsewhere();
      await this.#takeAll(
        listed.filter(({ id, nodeId }) => nodeId !== null || this.#ownerless.has(id)),
        (row) => taker.canHost(row),
      );
      if (isBetween === true) return;
      this.#ownerless = ownerlessOf(listed);
      this.#strays = await this.#pollHere();
    } finally {
      this.#isPolling = false;
    }
  }

  /** Goes on with those that are chosen and have no living owner. */
  async #takeAll(due: readonly Listed[], isChosen: Choice): Promise<void> {
    const living = new Set<string>();
    // One of each owner first: where that one lives, the others need not be asked for.
    const owners = new Set<string>();
    const first = due.filter(({ nodeId }) => nodeId !== null && isAdded(owners, nodeId));
    const isFirst = new Set(first);
    await this.#take(first, { living, isChosen });
    const rest = due.filter((one) => !isFirst.has(one) && !(one.nodeId !== null && living.has(one.nodeId)));
    await severalAtOnce(inBatches(rest), batchesAtOnce, (batch) => this.#take(batch, { living, isChosen }));
  }

  /** What this process owns now and does not work on. */
  async #pollHere(): Promise<Set<string>> {
    const { journal, taker } = this.#deps;
    const strays = (await journal.listActiveHere()).filter((id) => !taker.isOurs(id));
    const due = strays.filter((id) => this.#strays.has(id)).map((id) => ({ id }));
    const isChosen: Choice = (row) => taker.canHost(row);
    const how = { living: new Set<string>(), isChosen };
    await severalAtOnce(inBatches(due), batchesAtOnce, (batch) => this.#take(batch, how));
    return new Set(strays);
  }

  /** Goes on with those that are chosen; their owners that turn out to live are added to `living`. */
  async #take(
    batch: readonly Pick<Listed, "id">[],
    { living, isChosen }: { readonly living: Set<string>; readonly isChosen: Choice },
  ): Promise<void> {
    if (batch.length === 0) return;
    const { journal, taker } = this.#deps;
    const rows = await journal.getConversations(batch.map(({ id }) => id));
    const chosen = await Promise.all(
      rows.map(async (row) => (row !== null && (await isChosen(row)) ? [row.id] : [])),
    );
    // Ours is asked last: from there to the end nobody else of this process may claim one of them.
    const free = chosen.flat().filter((id) => !taker.isOurs(id));
    if (free.length === 0) return;
    using _hold = taker.hold(free);
    const leases: Lease[] = [];
    for (const claim of await journal.claimMany(free)) {
      if (!(claim instanceof LeaseHeldError)) leases.push(...(claim === null ? [] : [claim]));
      else if (claim.holder !== null) living.add(claim.holder);
    }
    // The former owner may have written up to the claim.
    const claimed = await journal.getConversations(leases.map(({ conversationId }) => conversationId));
    await Promise.all(
      leases.map(async (lease, index) => {
        const row = claimed[index] ?? null;
        if (row !== null) await taker.goOnWith(row.id, { row, lease });
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
