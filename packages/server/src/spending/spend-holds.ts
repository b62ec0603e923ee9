import { randomUUID } from "node:crypto";
import type { Cluster } from "../cluster/cluster.ts";
import type { ApplicationDatabase } from "../database/application-database.ts";
import type { Logger } from "../lib/logger.ts";
import type { Ledger } from "./ledger.ts";

export type SpendHoldsDeps = {
  readonly database: ApplicationDatabase;
  readonly cluster: Pick<Cluster, "nodeId" | "nodes" | "nowMs">;
  readonly ledger: Pick<Ledger, "spentToday">;
  readonly logger: Logger;
};

/** Amounts are US dollars. */
export type WantedHold = { readonly userId: string; readonly maxCost: number; readonly limit: number };
export type Hold = { readonly release: () => void };

/** So long a process may hold something that the others do not know yet. */
const unknownForMs = 15_000;
const retryMs = 1_000;

/**
 * What the calls of a user can still cost at all servers of a store. A call begins when what is spent today and what the others can
 * still cost leaves some of the day's budget: it is overstepped by one call at most, wherever the calls are made (P48). What a
 * server held that is gone does not count.
 */
export class SpendHolds {
  readonly #deps: SpendHoldsDeps;
  /** Released, and not taken out of the table yet. */
  readonly #due = new Set<string>();

  constructor(deps: SpendHoldsDeps) {
    this.#deps = deps;
  }

  /** Null where it does not fit now. Whoever has it books first and then releases. */
  async take({ userId, maxCost, limit }: WantedHold): Promise<Hold | null> {
    const { database, cluster, ledger } = this.#deps;
    const id = randomUUID();
    const living = new Set((await cluster.nodes()).map((node) => node.id));
    const taking = database.transaction(async (tables) => {
      const held = await tables
        .selectFrom("spend_holds")
        .select(["id", "node_id", "most", "taken_at"])
        .where("user_id", "=", userId)
        .execute();
      const nowMs = cluster.nowMs();
      const counting = held.filter(
        (hold) =>
          !this.#due.has(hold.id) && (living.has(hold.node_id) || nowMs - hold.taken_at < unknownForMs),
      );
      const pending = counting.reduce((sum, hold) => sum + (hold.most ?? Infinity), 0);
      if ((await ledger.spentToday(userId, tables)) + pending >= limit) return false;
      const over = held.filter((hold) => !counting.includes(hold)).map((hold) => hold.id);
      if (over.length > 0) await tables.deleteFrom("spend_holds").where("id", "in", over).execute();
      await tables
        .insertInto("spend_holds")
        .values({
          id,
          user_id: userId,
          node_id: cluster.nodeId,
          most: Number.isFinite(maxCost) ? maxCost : null,
          taken_at: nowMs,
        })
        .execute();
      return true;
    });
    try {
      return (await taking) ? { release: () => this.#release(id) } : null;
    } catch (error) {
      // Where nobody answered it may stand all the same, and would count for as long as this process lives.
      this.#release(id);
      throw error;
    }
  }

  #release(id: string): void {
    this.#due.add(id);
    void this.#sweep();
  }

  /** Never rejects: what could not be taken out is tried again. */
  async #sweep(): Promise<void> {
    const due = [...this.#due];
    if (due.length === 0) return;
    const { database, logger } = this.#deps;
    try {
      await database.commitSoon(async (tables) => {
        await tables.deleteFrom("spend_holds").where("id", "in", due).execute();
      });
      for (const id of due) this.#due.delete(id);
    } catch (error) {
      logger.warn(
        { holds: due.length, error: String(error) },
        "what calls held of a budget is not released yet",
      );
      setTimeout(() => void this.#sweep(), retryMs).unref();
    }
  }
}
