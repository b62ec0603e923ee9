import type { Cluster } from "../cluster/cluster.ts";
import type { ApplicationDatabase } from "../database/application-database.ts";
import type { Logger } from "../lib/logger.ts";
import { removeRows } from "../database/rows.ts";

export type HoldRowsDeps = {
  readonly database: ApplicationDatabase;
  readonly cluster: Pick<Cluster, "nodes" | "nowMs">;
  readonly table: "spend_holds" | "wall_holds";
  readonly logger: Logger;
};

export type HoldRow = { readonly id: string; readonly node_id: string; readonly taken_at: number };

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

  /** Which rows count, as the nodes are now. To be asked before the transaction that reads the rows. */
  async openCheck(): Promise<(row: HoldRow) => boolean> {
    const { cluster } = this.#deps;
    const living = new Set((await cluster.nodes()).map((node) => node.id));
    return ({ id, node_id: node, taken_at: atMs }) =>
      !this.#due.has(id) && (living.has(node) || cluster.nowMs() - atMs < unknownForMs);
  }

  /** From now on it does not count here; it is deleted soon. */
  release(id: string): void {
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
