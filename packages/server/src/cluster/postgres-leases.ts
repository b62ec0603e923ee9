import type { NamedLease, NamedLeases } from "./named-leases.ts";
import type { PostgresNode } from "./postgres-node.ts";

/** Leases on one PostgreSQL. A node holds a lease until it releases it or is declared dead. */
export class PostgresLeases implements NamedLeases {
  readonly #node: PostgresNode;
  /**
   * The leases in use in this process, each with the node id at that time. Other leases of this node in the database
   * are unused: their insert or delete was not acknowledged.
   */
  readonly #held = new Map<string, string>();

  constructor(node: PostgresNode) {
    this.#node = node;
  }

  async take(name: string): Promise<NamedLease | null> {
    const { pool, heartbeat } = this.#node;
    const { nodeId } = heartbeat;
    if (this.#held.get(name) === nodeId) return null;
    this.#held.set(name, nodeId);
    let isTaken = false;
    try {
      isTaken = (await pool.query(takeSql, [name, nodeId])).rowCount !== 0;
    } finally {
      if (!isTaken) this.#letGo(name, nodeId);
    }
    if (!isTaken) return null;
    return {
      isHeld: () => heartbeat.nodeId === nodeId,
      [Symbol.asyncDispose]: async () => {
        try {
          await pool.query("DELETE FROM convoke.named_leases WHERE name = $1 AND node_id = $2", [
            name,
            nodeId,
          ]);
        } finally {
          this.#letGo(name, nodeId);
        }
      },
    };
  }

  /** Another node may have come and gone since the last poll. */
  mayHaveOthers(): boolean {
    return true;
  }

  #letGo(name: string, nodeId: string): void {
    if (this.#held.get(name) === nodeId) this.#held.delete(name);
  }
}

const takeSql = `
  INSERT INTO convoke.named_leases AS l (name, node_id) VALUES ($1, $2)
  ON CONFLICT (name) DO UPDATE SET node_id = excluded.node_id
  WHERE l.node_id = excluded.node_id
    OR NOT EXISTS (SELECT FROM convoke.nodes n WHERE n.id = l.node_id AND n.dead_at IS NULL)`;
