/** A node as a look at the table finds it. */
export type SeenNode = { readonly id: string; readonly heartbeat: number };

/** What one node remembers of its own looks at the others. */
export type NodePolls = {
  /** The looker's own monotonic time, in milliseconds; null before the first look. */
  readonly atMs: number | null;
  readonly nodes: ReadonlyMap<string, { readonly heartbeat: number; readonly still: number }>;
};

export const noPolls: NodePolls = { atMs: null, nodes: new Map() };

/** So many looks in a row at one beat, and the node is dead. */
export const maxStillPolls = 6;

/**
 * Counts, for each node, the looks at which its beat was the one of the look before. No clocks are compared: a looker that was
 * paused itself, or that did not reach the database, begins to count anew.
 */
export function poll(
  before: NodePolls,
  nowMs: number,
  longestGapMs: number,
  seen: readonly SeenNode[],
): { readonly polls: NodePolls; readonly dead: readonly SeenNode[] } {
  const isContinued = before.atMs !== null && nowMs - before.atMs <= longestGapMs;
  const nodes = new Map(
    seen.map(({ id, heartbeat }) => {
      const known = isContinued ? before.nodes.get(id) : undefined;
      return [id, { heartbeat, still: known?.heartbeat === heartbeat ? known.still + 1 : 0 }];
    }),
  );
  const dead = seen.filter(({ id }) => (nodes.get(id)?.still ?? 0) >= maxStillPolls);
  return { polls: { atMs: nowMs, nodes }, dead };
}
