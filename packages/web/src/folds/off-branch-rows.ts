import type { Row } from "./row.ts";

/**
 * Ids of rows that do not lead to where the conversation stands: somebody went back to an event before them. Follows the log from
 * its end, and at each going back jumps to where it went.
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
