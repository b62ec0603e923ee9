import type { QuotaUse } from "@convoke/protocol";
import type { Journal } from "../journal/journal.ts";
import type { PolicyStore } from "../settings/policy-store.ts";
import { quotaReached } from "../settings/quota-reached.ts";
import type { WallHolds } from "../walls/wall-holds.ts";

export type QuotasDeps = {
  readonly journal: Pick<Journal, "countConversations" | "ownerOf">;
  readonly policies: Pick<PolicyStore, "of">;
  readonly walls: Pick<WallHolds, "count">;
};

/** From this share of a quota on, people are told. */
const nearShare = 0.8;

/** How much users may have of what they make, and how much they have. */
export class Quotas {
  readonly #deps: QuotasDeps;
  /** By user, the ids of conversations that are being created here. */
  readonly #creating = new Map<string, Set<string>>();

  constructor(deps: QuotasDeps) {
    this.#deps = deps;
  }

  /**
   * Counts a conversation that is about to be created, until it is disposed of. Rejects with `quota_reached`. Nodes that create at the same
   * moment may each let one more in.
   */
  async admit(userId: string, id: string): Promise<Disposable> {
    const { journal, policies } = this.#deps;
    const { conversations: max } = policies.of(userId);
    if (max === undefined) return { [Symbol.dispose]: () => {} };
    const creating = this.#creating.get(userId) ?? new Set();
    this.#creating.set(userId, creating);
    const others = [...creating].filter((other) => other !== id);
    creating.add(id);
    const release = (): void => {
      creating.delete(id);
      if (creating.size === 0 && this.#creating.get(userId) === creating) this.#creating.delete(userId);
    };
    try {
      // Owners first: one that is stored meanwhile is counted twice rather than not at all.
      const owners = await Promise.all([id, ...others].map(async (one) => await journal.ownerOf(one)));
      const [own, ...ofOthers] = owners;
      // It exists: nothing is created.
      if (own === null) {
        const stored = await journal.countConversations({ ownerId: userId });
        const used = stored + ofOthers.filter((owner) => owner === null).length;
        if (used >= max) throw quotaReached({ name: "conversations", used, max });
      }
      return { [Symbol.dispose]: release };
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Those that limit a user. */
  async of(userId: string): Promise<QuotaUse[]> {
    const { journal, policies, walls } = this.#deps;
    const { conversations, running_walls: runningWalls } = policies.of(userId);
    return [
      ...(conversations === undefined
        ? []
        : [usedOf("conversations", await journal.countConversations({ ownerId: userId }), conversations)]),
      ...(runningWalls === undefined
        ? []
        : [usedOf("running_walls", await walls.count(userId), runningWalls)]),
    ];
  }
}

function usedOf(name: QuotaUse["name"], used: number, max: number): QuotaUse {
  return { name, used, max, is_near: used >= max * nearShare };
}
