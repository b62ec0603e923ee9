import { randomUUID } from "node:crypto";
import type { Selectable, Transaction } from "kysely";
import type { Cluster } from "../cluster/cluster.ts";
import type { ApplicationDatabase } from "../database/application-database.ts";
import type { Tables } from "../database/tables.ts";
import type { Logger } from "../lib/logger.ts";
import { putRow, removeRows, rowsWith } from "../database/rows.ts";

export type HoldRowsDeps = {
  readonly database: ApplicationDatabase;
  readonly cluster: Pick<Cluster, "nodeId" | "nodes" | "nowMs">;
  readonly table: "spend_holds" | "wall_holds";
  readonly logger: Logger;
};

/** Of holds that have one. */
type HoldCost = Partial<Pick<Selectable<Tables["spend_holds"]>, "most">>;
type HoldRow = HoldCost & Pick<Selectable<Tables["wall_holds"]>, "id" | "node_id" | "taken_at">;
export type Hold = { readonly release: () => void };

/** How long a hold counts whose node is not yet known here. */
const unknownForMs = 15_000;
const retryMs = 1_000;

/** Rows that say what each node holds of something that all nodes share. Those of dead nodes do not count. */
export class HoldRows {
  readonly #deps: HoldRowsDeps;
  /** Released holds that are not deleted from the table yet. */
  readonly #due = new Set<string>();

  constructor(deps: HoldRowsDeps) {
    this.#deps = deps;
  }

  /** A new hold of a user, with this cost; or what `refuse` makes of those that count, and then nothing is written. It may be called again. */
  async take<Refusal>(
    userId: string,
    cost: HoldCost,
    refuse: (counting: readonly HoldRow[], tables: Transaction<Tables>) => Promise<Refusal | null>,
  ): Promise<Hold | Refusal> {
    const { database, cluster, table } = this.#deps;
    const id = randomUUID();
    const counts = await this.#openCheck();
    const taking = database.transaction(async (tables) => {
      const held = await rowsWith(tables, table, { user_id: userId }).execute();
      const counting = held.filter(counts);
      const refusal = await refuse(counting, tables);
      if (refusal !== null) return refusal;
      const over = held.filter((hold) => !counting.includes(hold)).map((hold) => hold.id);
      if (over.length > 0) await removeRows(tables, table, { id: over });
      const row = { id, user_id: userId, node_id: cluster.nodeId, taken_at: cluster.nowMs(), ...cost };
      await putRow(tables, table, row);
      return null;
    });
    const release = (): void => this.#release(id);
    try {
      return (await taking) ?? { release };
    } catch (error) {
      // A commit that was not acknowledged may have stored the hold, which would count for as long as this process
      // lives.
      release();
      throw error;
    }
  }

  /** How many holds of a user count. */
  async count(userId: string): Promise<number> {
    const { database, table } = this.#deps;
    const counts = await this.#openCheck();
    const held = await rowsWith(database.tables, table, { user_id: userId }).execute();
    return held.filter(counts).length;
  }

  /** Which rows count, as the nodes are now. To be asked before the transaction that reads the rows. */
  async #openCheck(): Promise<(row: HoldRow) => boolean> {
    const { cluster } = this.#deps;
    const living = new Set((await cluster.nodes()).map((node) => node.id));
    return ({ id, node_id: node, taken_at: atMs }) =>
      !this.#due.has(id) && (living.has(node) || cluster.nowMs() - atMs < unknownForMs);
  }

  /** From now on it does not count here; it is deleted soon. */
  #release(id: string): void {
    this.#due.add(id);
    void this.#sweep();
  }

  /** Never rejects: failed deletes are retried. */
  async #sweep(): Promise<void> {
    const due = [...this.#due];
    if (due.length === 0) return;
    const { database, table, logger } = this.#deps;
    try {
      await database.commitSoon(async (tables) => void (await removeRows(tables, table, { id: due })));
      for (const id of due) this.#due.delete(id);
    } catch (error) {
      logger.warn(
        { table, holds: due.length, error: String(error) },
        "holds that ended are not released yet",
      );
      setTimeout(() => void this.#sweep(), retryMs).unref();
    }
  }
}
