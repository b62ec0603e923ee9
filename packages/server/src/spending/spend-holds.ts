import { HoldRows, type Hold, type HoldRowsDeps } from "./hold-rows.ts";
import type { Ledger } from "./ledger.ts";

export type SpendHoldsDeps = Omit<HoldRowsDeps, "table"> & { readonly ledger: Pick<Ledger, "spentToday"> };

/** Amounts are US dollars. */
export type WantedHold = { readonly userId: string; readonly maxCost: number; readonly limit: number };

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
    const cost = { most: Number.isFinite(maxCost) ? maxCost : null };
    const taken = await this.#rows.take<"no room">(userId, cost, async (counting, tables) => {
      const pending = counting.reduce((sum, hold) => sum + (hold.most ?? Infinity), 0);
      const spent = await this.#deps.ledger.spentToday(userId, tables);
      return spent + pending >= limit ? "no room" : null;
    });
    return taken === "no room" ? null : taken;
  }
}
