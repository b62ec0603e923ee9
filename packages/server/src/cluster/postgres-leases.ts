import type { NamedLease, NamedLeases } from "../database/named-leases.ts";
import type { PostgresNode } from "./postgres-node.ts";

/** Leases of the processes on one PostgreSQL: each is its node's as long as that lives, or until it gives it back. */
export class PostgresLeases implements NamedLeases {
  readonly #node: PostgresNode;

  constructor(node: PostgresNode) {
    this.#node = node;
  }

  async take(name: string): Promise<NamedLease | null> {
    const { pool, beat } = this.#node;
    const { nodeId } = beat;
    const { rowCount } = await pool.query(takeSql, [name, nodeId]);
    if (rowCount === 0) return null;
    return {
      isHeld: () => beat.nodeId === nodeId,
      [Symbol.asyncDispose]: async () => {
        await pool.query("DELETE FROM convoke.named_leases WHERE name = $1 AND node_id = $2", [name, nodeId]);
      },
    };
  }

  /** Another one may have come and gone since the last look. */
  mayHaveOthers(): boolean {
    return true;
  }
}

const takeSql = `
  INSERT INTO convoke.named_leases AS l (name, node_id) VALUES ($1, $2)
  ON CONFLICT (name) DO UPDATE SET node_id = excluded.node_id
  WHERE NOT EXISTS (SELECT FROM convoke.nodes n WHERE n.id = l.node_id AND n.dead_at IS NULL)`;
