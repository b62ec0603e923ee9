import { severalAtOnce } from "../lib/several-at-once.ts";
import {
  LeaseHeldError,
  UnknownConversationError,
  type ConversationRow,
  type Journal,
  type Lease,
} from "../journal/journal.ts";

export type OrphansDeps = {
  readonly journal: Pick<Journal, "claim" | "getConversations" | "listActiveElsewhere">;
  /** True for what this process works on, or is about to. */
  readonly isOurs: (id: string) => boolean;
  /** False where its tools cannot be reached from here, such as in a sandbox of another server. */
  readonly canHost: (row: ConversationRow) => Promise<boolean>;
  readonly goOnWith: (id: string, lease: Lease) => Promise<void>;
};

/** Each waits for the database several times, so side by side they go on sooner. */
const mostAtOnce = 16;
/** What is looked at next is read together. */
const rowsAtOnce = 32;

/** `isBetween`: one more than those that come now and then, because a server has ended. */
export type Look = { readonly isBetween?: true };

/** Runs that another server on the same store has left behind: somebody who lives must go on with them (P2, P27). */
export class Orphans {
  readonly #deps: OrphansDeps;
  /** Active conversations that nobody owned at the last look. */
  #ownerless: ReadonlySet<string> = new Set();
  #isLooking = false;

  constructor(deps: OrphansDeps) {
    this.#deps = deps;
  }

  /**
   * Goes on with each run whose server has ended; call now and then. What nobody owns is left alone until the second look: its
   * server may be between two steps, such as making a fork.
   */
  async takeUp({ isBetween }: Look = {}): Promise<void> {
    // A look that takes long must not claim again what it has just claimed.
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      const ownerless = await this.#look();
      if (isBetween !== true) this.#ownerless = ownerless;
    } finally {
      this.#isLooking = false;
    }
  }

  /** What nobody owns now. */
  async #look(): Promise<Set<string>> {
    const { journal, isOurs, canHost, goOnWith } = this.#deps;
    const ownerless = new Set<string>();
    const living = new Set<string>();
    const listed = await journal.listActiveElsewhere();
    const rowAt = inBatches(
      listed.map(({ id }) => id),
      (ids) => journal.getConversations(ids),
    );
    await severalAtOnce(listed.entries(), mostAtOnce, async ([index, { id, nodeId }]) => {
      if (nodeId === null) ownerless.add(id);
      const isDue = nodeId === null ? this.#ownerless.has(id) : !living.has(nodeId);
      const row = isDue ? await rowAt(index) : null;
      // Ours is asked last: from there to the claim nothing may come between.
      if (row === null || !(await canHost(row)) || isOurs(id)) return;
      const lease = await this.#claim(id);
      if (lease !== null) await goOnWith(id, lease);
      else if (nodeId !== null) living.add(nodeId);
    });
    return ownerless;
  }

  /** Null while its owner lives, and for what was deleted meanwhile. */
  async #claim(id: string): Promise<Lease | null> {
    try {
      return await this.#deps.journal.claim(id);
    } catch (error) {
      if (error instanceof LeaseHeldError || error instanceof UnknownConversationError) return null;
      throw error;
    }
  }
}

/** The value of a key by its place; its neighbours are read along. */
function inBatches<Key, Value>(
  keys: readonly Key[],
  read: (keys: readonly Key[]) => Promise<readonly (Value | null)[]>,
): (index: number) => Promise<Value | null> {
  const batches = new Map<number, Promise<readonly (Value | null)[]>>();
  return async (index) => {
    const from = index - (index % rowsAtOnce);
    const batch = batches.get(from) ?? read(keys.slice(from, from + rowsAtOnce));
    batches.set(from, batch);
    return (await batch)[index - from] ?? null;
  };
}
