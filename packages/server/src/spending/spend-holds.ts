import { randomUUID } from "node:crypto";
import type { Cluster } from "../cluster/cluster.ts";
import type { ApplicationDatabase } from "../database/application-database.ts";
import type { Logger } from "../lib/logger.ts";
import { HoldRows } from "./hold-rows.ts";
import type { Ledger } from "./ledger.ts";
import { putRow, removeRows, rowsWith } from "../database/rows.ts";

export type SpendHoldsDeps = {
  readonly database: ApplicationDatabase;
  readonly cluster: Pick<Cluster, "nodeId" | "nodes" | "nowMs">;
  readonly ledger: Pick<Ledger, "spentToday">;
  readonly logger: Logger;
};

/** Amounts are US dollars. */
export type WantedHold = { readonly userId: string; readonly maxCost: number; readonly limit: number };
export type Hold = { readonly release: () => void };

/**
 * The maximum cost of a user's calls in progress at all nodes of a store. A call begins when today's spending plus
 * these holds is below the day's budget, so it is exceeded by at most one call, wherever the calls are made (P48).
 * Holds of dead nodes do not count.
 */
export class SpendHolds {
  readonly #deps: SpendHoldsDeps;
  readonly #rows: HoldRows;

  constructor(deps: SpendHoldsDeps) {
    this.#deps = deps;
    this.#rows = new HoldRows({ ...deps, table: "spend_holds" });
  }

  /** Null when the budget has no room now. The holder records the cost first and then releases. */
  async take({ userId, maxCost, limit }: WantedHold): Promise<Hold | null> {
    const { database, cluster, ledger } = this.#deps;
    const id = randomUUID();
    const counts = await this.#rows.openCheck();
    const taking = database.transaction(async (tables) => {
      const held = await rowsWith(tables, "spend_holds", { user_id: userId }).execute();
      const counting = held.filter(counts);
      const pending = counting.reduce((sum, hold) => sum + (hold.most ?? Infinity), 0);
      if ((await ledger.spentToday(userId, tables)) + pending >= limit) return false;
      const over = held.filter((hold) => !counting.includes(hold)).map((hold) => hold.id);
      if (over.length > 0) await removeRows(tables, "spend_holds", { id: over });
      await putRow(tables, "spend_holds", {
        id,
        user_id: userId,
        node_id: cluster.nodeId,
        most: Number.isFinite(maxCost) ? maxCost : null,
        taken_at: cluster.nowMs(),
      });
      return true;
    });
    const release = (): void => this.#rows.release(id);
    try {
      return (await taking) ? { release } : null;
    } catch (error) {
      // A commit that was not acknowledged may have stored the hold, which would count for as long as this process
      // lives.
      release();
      throw error;
    }
  }
}
