import {
  LeaseLostError,
  type AppendBatch,
  type Journal,
  type Lease,
  type NewConversation,
} from "../journal/journal.ts";
import type { Clock } from "../lib/clock.ts";
import type { LogDeps } from "../engine/conversation-log.ts";

export type CreationDeps = {
  readonly journal: Journal;
  readonly row: NewConversation;
  readonly clock: Clock;
  /** Called when the conversation is durable, before the append that created it resolves. */
  readonly onStored: () => void;
};

/**
 * The store of a conversation that does not exist yet: its first append also inserts the row, in one commit. An id
 * that is taken is reported as a lost lease, as for any log that another process owns.
 */
export class Creation implements LogDeps {
  readonly clock: Clock;
  readonly journal: LogDeps["journal"];
  readonly #deps: CreationDeps;
  #lease: Lease | null = null;
  #isTaken = false;

  constructor(deps: CreationDeps) {
    const { clock, journal } = deps;
    this.#deps = deps;
    this.clock = clock;
    this.journal = {
      append: (lease, batch) => (this.#lease === null ? this.store(batch) : journal.append(lease, batch)),
      getEvents: (id, ids) => journal.getEvents(id, ids),
      read: (id, afterSeq, limit) => journal.read(id, afterSeq, limit),
      readKinds: (id, kinds, fromSeq, toSeq) => journal.readKinds(id, kinds, fromSeq, toSeq),
    };
  }

  /** Owns nothing before the conversation is stored. */
  get lease(): Lease {
    return this.#lease ?? { conversationId: this.#deps.row.id, generation: 0 };
  }

  get isStored(): boolean {
    return this.#lease !== null;
  }

  /** True if the id is taken. */
  get isTaken(): boolean {
    return this.#isTaken;
  }

  async store(first: AppendBatch | null): Promise<void> {
    const { journal, row, onStored } = this.#deps;
    this.#lease = await journal.createClaimed(row, first);
    if (this.#lease === null) {
      this.#isTaken = true;
      throw new LeaseLostError(`Conversation ${row.id} was created by somebody else`);
    }
    onStored();
  }
}
