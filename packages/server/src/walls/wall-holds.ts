import { randomUUID } from "node:crypto";
import type { Cluster } from "../cluster/cluster.ts";
import type { ApplicationDatabase } from "../database/application-database.ts";
import type { Logger } from "../lib/logger.ts";
import type { PolicyStore } from "../settings/policy-store.ts";
import type { ReachedQuota } from "../settings/quota-reached.ts";
import { HoldRows, type HoldRow } from "../spending/hold-rows.ts";
import type { Hold } from "../spending/spend-holds.ts";

export type WallHoldsDeps = {
  readonly database: ApplicationDatabase;
  readonly cluster: Pick<Cluster, "nodeId" | "nodes" | "nowMs">;
  readonly policies: Pick<PolicyStore, "of">;
  readonly logger: Logger;
};

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
    return max === undefined ? null : this.#take(userId, max);
  }

  async #take(userId: string, max: number): Promise<Hold | ReachedQuota> {
    const { database, cluster } = this.#deps;
    const id = randomUUID();
    const counts = await this.#rows.openCheck();
    const taking = database.transaction(async (tables) => {
      const held = await tables
        .selectFrom("wall_holds")
        .select(["id", "node_id", "taken_at"])
        .where("user_id", "=", userId)
        .execute();
      const counting = held.filter(counts);
      if (counting.length >= max) return counting.length;
      const over = held.filter((hold) => !counting.includes(hold)).map((hold) => hold.id);
      if (over.length > 0) await tables.deleteFrom("wall_holds").where("id", "in", over).execute();
      const row = { id, user_id: userId, node_id: cluster.nodeId, taken_at: cluster.nowMs() };
      await tables.insertInto("wall_holds").values(row).execute();
      return null;
    });
    const release = (): void => this.#rows.release(id);
    try {
      const used = await taking;
      return used === null ? { release } : { name: "running_walls", used, max };
    } catch (error) {
      // A commit that was not acknowledged may have stored it.
      release();
      throw error;
    }
  }

  /** How many walls of a user run, as far as {@link take} was asked for them. */
  async count(userId: string): Promise<number> {
    const counts = await this.#rows.openCheck();
    const { tables } = this.#deps.database;
    const rows: readonly HoldRow[] = await tables
      .selectFrom("wall_holds")
      .select(["id", "node_id", "taken_at"])
      .where("user_id", "=", userId)
      .execute();
    return rows.filter(counts).length;
  }
}
