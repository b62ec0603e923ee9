import type { Timeline } from "../../database/postgres/timeline.ts";
import { LeaseLostError, type Lease, type LeaseHeldError } from "../journal.ts";
import type { Acknowledged } from "./acknowledged.ts";
import { ownedBy, type ConversationWriter, type Held } from "./conversation-writer.ts";

export type LeasesDeps = {
  readonly writes: Pick<ConversationWriter, "claim" | "claimMany" | "findHolders" | "release">;
  readonly timeline: Pick<Timeline, "era">;
  readonly acknowledged: Pick<Acknowledged, "note" | "forget">;
};

/** The leases of this process, and where the logs are that they are for. */
export class Leases {
  readonly #deps: LeasesDeps;
  /** Of the logs that this process owns, or did. */
  readonly #held = new Map<string, Held>();

  constructor(deps: LeasesDeps) {
    this.#deps = deps;
  }

  async claim(conversationId: string): Promise<Lease> {
    return this.take(conversationId, await this.#deps.writes.claim(conversationId));
  }

  /** See {@link Journal.claimMany}. */
  async claimMany(conversationIds: readonly string[]): Promise<(Lease | LeaseHeldError | null)[]> {
    const { writes } = this.#deps;
    const held = await writes.claimMany(conversationIds);
    const missed = conversationIds.filter((id) => !held.has(id));
    const holders = missed.length === 0 ? new Map<string, string>() : await writes.findHolders(missed);
    return conversationIds.map((id) => {
      const [own, holder] = [held.get(id), holders.get(id)];
      if (own !== undefined) return this.take(id, own);
      return holder === undefined ? null : ownedBy(id, holder);
    });
  }

  /** Of what this process has just made, or claimed. */
  take(conversationId: string, held: Held): Lease {
    const { acknowledged, timeline } = this.#deps;
    this.#held.set(conversationId, held);
    acknowledged.note(conversationId, { number: held.number, seq: 0, eventId: null });
    const { generation, isFromElsewhere } = held;
    return {
      conversationId,
      generation,
      era: timeline.era ?? undefined,
      isFromElsewhere: isFromElsewhere ? true : undefined,
    };
  }

  /** Only this process can have claimed what it writes to; fails with {@link LeaseLostError} for an older lease. */
  heldBy({ conversationId, generation }: Lease): Held {
    const held = this.#held.get(conversationId);
    if (held?.generation === generation) return held;
    const last = held === undefined ? "" : `, the last one is ${held.generation}`;
    throw new LeaseLostError(`Lease ${generation} of conversation ${conversationId} is over${last}`);
  }

  async release({ conversationId, generation }: Lease): Promise<void> {
    const held = this.#held.get(conversationId);
    if (held?.generation !== generation) return;
    await this.#deps.writes.release(held);
    // It may have been claimed again meanwhile.
    if (this.#held.get(conversationId) === held) this.forget(conversationId);
  }

  /** The conversation is not this process's any more. */
  forget(conversationId: string): void {
    this.#held.delete(conversationId);
    this.#deps.acknowledged.forget(conversationId);
  }
}
