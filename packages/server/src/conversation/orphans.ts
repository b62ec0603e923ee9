import { severalAtOnce } from "../lib/several-at-once.ts";
import { LeaseHeldError, UnknownConversationError, type Journal } from "../journal/journal.ts";

export type OrphansDeps = {
  readonly journal: Pick<Journal, "claim" | "listActiveElsewhere">;
  /** True for what this process works on, or is about to. */
  readonly isOurs: (id: string) => boolean;
  /** False where its tools cannot be reached from here, such as in a sandbox of another server. */
  readonly canHost: (id: string) => Promise<boolean>;
  readonly goOnWith: (id: string) => Promise<void>;
};

/** Each waits for the database several times, so side by side they go on sooner. */
const mostAtOnce = 16;

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
  async takeUp(): Promise<void> {
    // A look that takes long must not claim again what it has just claimed.
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      this.#ownerless = await this.#look();
    } finally {
      this.#isLooking = false;
    }
  }

  /** What nobody owns now. */
  async #look(): Promise<Set<string>> {
    const { journal, isOurs, canHost, goOnWith } = this.#deps;
    const ownerless = new Set<string>();
    const living = new Set<string>();
    await severalAtOnce(await journal.listActiveElsewhere(), mostAtOnce, async ({ id, nodeId }) => {
      if (nodeId === null) ownerless.add(id);
      const isDue = nodeId === null ? this.#ownerless.has(id) : !living.has(nodeId);
      // Ours is asked last: from there to the claim nothing may come between.
      if (!isDue || !(await canHost(id)) || isOurs(id)) return;
      if (await this.#claims(id)) await goOnWith(id);
      else if (nodeId !== null) living.add(nodeId);
    });
    return ownerless;
  }

  /** False while its owner lives, and for what was deleted meanwhile. */
  async #claims(id: string): Promise<boolean> {
    try {
      await this.#deps.journal.claim(id);
      return true;
    } catch (error) {
      if (error instanceof LeaseHeldError || error instanceof UnknownConversationError) return false;
      throw error;
    }
  }
}
