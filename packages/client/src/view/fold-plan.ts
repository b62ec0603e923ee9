import { textAt } from "./unknown-record.ts";
import type { Row } from "./row.ts";

/** The plan file of an agent; `version` changes with each edit of it. */
export type WrittenPlan = { readonly path: string; readonly version: string };

/** The current plan; null if there is none. */
export function foldPlan(rows: readonly Row[]): WrittenPlan | null {
  const row = rows.findLast(
    (one) =>
      one.type === "action" &&
      one.action?.["kind"] === "PlanningFileEditorAction" &&
      one.action["command"] !== "view" &&
      one.outcome?.type === "result" &&
      !one.outcome.isError,
  );
  if (row?.type !== "action" || row.outcome === null) return null;
  return { path: textAt(row.action, "path"), version: row.outcome.id };
}
