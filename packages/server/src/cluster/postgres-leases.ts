import type { NamedLease, NamedLeases } from "./named-leases.ts";
import type { PostgresNode } from "./postgres-node.ts";

/** Leases of the processes on one PostgreSQL: each is its node's as long as that lives, or until it gives it back. */
export class PostgresLeases implements NamedLeases {
  readonly #node: PostgresNode;
  /**
   * Those that somebody in this process has, each with the id that the node had. What else the database says is this node's nobody has: it
   * was taken, or not given back, when nobody answered.
   */
  readonly #held = new Map<string, string>();

  constructor(node: PostgresNode) {
    this.#node = node;
  }

  async take(name: string): Promise<NamedLease | null> {
    const { pool, beat } = this.#node;
    const { nodeId } = beat;
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
      isHeld: () => beat.nodeId === nodeId,
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

  /** Another one may have come and gone since the last look. */
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
