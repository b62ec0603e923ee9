import type { Row } from "./row.ts";

/**
 * Ids of rows that are not on the current branch, because the user navigated to an earlier event. Walks the log from
 * its end and jumps at each navigation.
 */
export function findOffBranchRows(rows: readonly Row[]): ReadonlySet<string> {
  const left = new Set<string>();
  let target: string | null | undefined;
  for (const row of rows.toReversed()) {
    if (target !== undefined && (target === null || row.id > target)) {
      left.add(row.id);
      continue;
    }
    target = row.type === "branch" ? row.target : undefined;
  }
  return left;
}
