import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { PendingMarks } from "./pending-marks.ts";

/** What the record of a session says of one call. */
export type RecordedExecution = {
  readonly actionId: string;
  /** `announced`: it is certain that the tool did not begin. `started`: it began, or may have. */
  readonly state: "announced" | "started" | "ended";
  readonly startedAtMs: number | null;
  readonly endedAtMs: number | null;
};

/** Reads calls from the file of an {@link ExecutionJournal}, also while its session works; changes nothing. Empty where there is no file. */
export function readExecutions(
  path: string,
  actionIds: readonly string[],
  marks: PendingMarks | null = PendingMarks.open(),
): RecordedExecution[] {
  if (!existsSync(path)) return [];
  using database = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
  const columns = database.prepare("PRAGMA table_info(executions)").all();
  // A file that is just being made has no table yet.
  if (columns.length === 0) return [];
  // Older releases announced nothing.
  const announced = columns.some(({ name }) => name === "announced_in") ? "announced_in" : "NULL";
  const rows = database
    .prepare(
      `SELECT action_id, started_at_ms, ended_at_ms, ${announced} AS mark FROM executions
       WHERE action_id IN (SELECT value FROM json_each(?))`,
    )
    .all(JSON.stringify(actionIds));
  return rows.map((row) => {
    const { started_at_ms: startedAtMs, ended_at_ms: endedAtMs, mark } = row;
    const isAnnounced = startedAtMs === null && typeof mark === "string" && marks?.has(mark) === true;
    return {
      actionId: String(row["action_id"]),
      state: endedAtMs !== null ? "ended" : isAnnounced ? "announced" : "started",
      startedAtMs: startedAtMs === null ? null : Number(startedAtMs),
      endedAtMs: endedAtMs === null ? null : Number(endedAtMs),
    };
  });
}
