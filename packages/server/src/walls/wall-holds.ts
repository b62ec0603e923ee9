import type { PolicyStore } from "../settings/policy-store.ts";
import type { ReachedQuota } from "../settings/quota-reached.ts";
import { HoldRows, type Hold, type HoldRowsDeps } from "../spending/hold-rows.ts";

export type WallHoldsDeps = Omit<HoldRowsDeps, "table"> & { readonly policies: Pick<PolicyStore, "of"> };

/**
 * The walls that run at all nodes of a store, of users whose policy limits their number. Those that ran before the limit was set are not
 * known to other nodes, and not counted, until they start again.
 */
export class WallHolds {
  readonly #deps: WallHoldsDeps;
  readonly #rows: HoldRows;

  constructor(deps: WallHoldsDeps) {
    this.#deps = deps;
    this.#rows = new HoldRows({ ...deps, table: "wall_holds" });
  }

  /** The quota where it has no room now; null for a user without a limit. */
  take(userId: string): Promise<Hold | ReachedQuota> | null {
    const { running_walls: max } = this.#deps.policies.of(userId);
    if (max === undefined) return null;
    return this.#rows.take<ReachedQuota>(userId, {}, async ({ length: used }) =>
      used >= max ? { name: "running_walls", used, max } : null,
    );
  }

  /** How many walls of a user run, as far as {@link take} was asked for them. */
  async count(userId: string): Promise<number> {
    return await this.#rows.count(userId);
  }
}
