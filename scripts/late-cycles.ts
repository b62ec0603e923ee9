/** One import between two files; `isLate` for `import()`. */
export type ImportEdge = {
  /** Slash paths relative to the root. */
  readonly from: string;
  readonly to: string;
  /** 1-based, in `from`. */
  readonly line: number;
  readonly isLate: boolean;
};

/** A late import that closes a cycle: its target leads back to its own file. `path` begins and ends with that file. */
export type LateCycle = { readonly edge: ImportEdge; readonly path: readonly string[] };

/** The cycles that a linter misses because one of their imports is an `import()`; the shortest one for each of these. */
export function findLateCycles(edges: readonly ImportEdge[]): LateCycle[] {
  const targets = Map.groupBy(edges, ({ from }) => from);
  return edges
    .filter(({ isLate }) => isLate)
    .flatMap((edge) => {
      const back = shortestPath(targets, edge.to, edge.from);
      return back === null ? [] : [{ edge, path: [edge.from, ...back] }];
    });
}

function shortestPath(
  targets: ReadonlyMap<string, readonly ImportEdge[]>,
  start: string,
  goal: string,
): string[] | null {
  const cameFrom = new Map<string, string | null>([[start, null]]);
  for (const file of cameFrom.keys()) {
    if (file === goal) return pathTo(file, cameFrom);
    for (const { to } of targets.get(file) ?? []) if (!cameFrom.has(to)) cameFrom.set(to, file);
  }
  return null;
}

function pathTo(file: string, cameFrom: ReadonlyMap<string, string | null>): string[] {
  const before = cameFrom.get(file) ?? null;
  return before === null ? [file] : [...pathTo(before, cameFrom), file];
}
