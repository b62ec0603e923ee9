import type { HookDelivery } from "./hook-form.ts";
import { changeRows, putRow, removalBeyond, rowsWith } from "../database/rows.ts";
import type { StoreDeps } from "../settings/store-deps.ts";

/** How long a delivery is remembered. Senders repeat one for some days at most. */
const rememberedMs = 30 * 24 * 60 * 60 * 1000;
/** Per automation, in keys; a delivery has one or two. */
const maxRemembered = 20_000;
/** Old deliveries are removed with one in so many new ones. */
const cleanEvery = 100;

export type ClaimedDelivery = {
  /** Names the delivery among the occurrences of its automation, also at further attempts. */
  readonly occurrence: string;
  /** The run that it started; null when it is new, and after a crash between the two records. */
  readonly runId: string | null;
};

/** Remembers the deliveries of webhooks, so that each starts one run. Nodes that share a store share it. */
export class DeliveryStore {
  readonly #deps: StoreDeps;
  #untilClean = 1;

  constructor(deps: StoreDeps) {
    this.#deps = deps;
  }

  /** Records a delivery with all its keys before its run; one that has a known key is the known one. */
  async claim(automationId: string, keys: HookDelivery["keys"]): Promise<ClaimedDelivery> {
    const { database, clock } = this.#deps;
    const nowMs = clock.nowMs();
    const claimed = await database.transaction(async (tables) => {
      const wanted = { automation_id: automationId, key: keys };
      const rows = await rowsWith(tables, "automation_deliveries", wanted).execute();
      const known = rows.find((row) => row.run_id !== null) ?? rows[0];
      const { occurrence, run_id: runId } = known ?? { occurrence: keys[0], run_id: null };
      const noted = { automation_id: automationId, occurrence, run_id: runId, seen_at: nowMs };
      for (const key of keys.filter((each) => !rows.some((row) => row.key === each)))
        await putRow(tables, "automation_deliveries", { key, ...noted });
      return { occurrence, runId };
    });
    this.#untilClean -= 1;
    if (this.#untilClean <= 0) await this.#clean(automationId, nowMs);
    return claimed;
  }

  /** The run of a claimed delivery is recorded. */
  async settle(automationId: string, occurrence: string, runId: string): Promise<void> {
    const wanted = { automation_id: automationId, occurrence };
    await changeRows(this.#deps.database.tables, "automation_deliveries", wanted, { run_id: runId });
  }

  async #clean(automationId: string, nowMs: number): Promise<void> {
    this.#untilClean = cleanEvery;
    const { tables } = this.#deps.database;
    const newest = { column: "seen_at", max: maxRemembered } as const;
    await removalBeyond(tables, "automation_deliveries", { automation_id: automationId }, newest).execute();
    await tables
      .deleteFrom("automation_deliveries")
      .where("seen_at", "<=", nowMs - rememberedMs)
      .execute();
  }
}
