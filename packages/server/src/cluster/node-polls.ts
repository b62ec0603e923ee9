/** A node and its heartbeat counter, as one poll of the table finds them. */
export type SeenNode = { readonly id: string; readonly heartbeat: number };

/** What one node remembers of its polls of the others. */
export type NodePolls = {
  /** Monotonic time of the last poll, in milliseconds; null before the first one. */
  readonly atMs: number | null;
  readonly nodes: ReadonlyMap<string, { readonly heartbeat: number; readonly still: number }>;
};

export const noPolls: NodePolls = { atMs: null, nodes: new Map() };

/** A node whose heartbeat is the same in this many polls in a row is dead. */
export const maxStillPolls = 6;

/**
 * Counts, for each node, the polls that found its heartbeat unchanged. No clocks are compared: after a pause of the
 * polling node itself, or a time without the database, the counts restart.
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
