import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { PendingMarks } from "./pending-marks.ts";

/** State of a call in the record of a session. */
export type RecordedExecution = {
  readonly actionId: string;
  /** `announced`: the tool certainly did not start. `started`: it did, or may have. */
  readonly state: "announced" | "started" | "ended";
  readonly startedAtMs: number | null;
  readonly endedAtMs: number | null;
};

/** Reads calls from the file of an {@link ExecutionJournal}, also while its session runs; changes nothing. Empty without a file. */
export function readExecutions(
  path: string,
  actionIds: readonly string[],
  marks: PendingMarks | null = PendingMarks.open(),
): RecordedExecution[] {
  if (!existsSync(path)) return [];
  using database = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
  const columns = database.prepare("PRAGMA table_info(executions)").all();
  // A file that is just being created has no table yet.
  if (columns.length === 0) return [];
  // Older releases have no announcements.
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
