import { editsOf } from "./edits.ts";
import type { ActionRow, AnswerRow, MessageRow, Row } from "./row.ts";

/** A turn: a message of the user and the rows that follow it. */
export type Turn = {
  /** Id of the message; `start` for rows before the first known message. */
  readonly key: string;
  readonly message: MessageRow | null;
  /** Without the message. */
  readonly rows: readonly Row[];
};

export type TurnNumbers = {
  readonly steps: number;
  readonly failed: number;
  readonly files: number;
  readonly durationMs: number;
};

/** The turns in log order. A message sent during a run belongs to the turn that it interrupted. */
export function foldTurns(rows: readonly Row[]): readonly Turn[] {
  const turns: { key: string; message: MessageRow | null; rows: Row[] }[] = [];
  let isOver = true;
  for (const row of rows) {
    const last = turns.at(-1);
    if (row.type === "message" && (isOver || last === undefined)) {
      turns.push({ key: row.id, message: row, rows: [] });
      isOver = false;
      continue;
    }
    if (row.type === "answer" || row.type === "error" || row.type === "halt" || row.type === "branch")
      isOver = true;
    if (row.type === "action") isOver = isFinish(row);
    if (last === undefined) turns.push({ key: "start", message: null, rows: [row] });
    else last.rows.push(row);
  }
  return turns;
}

export function isFinish(row: Row): row is ActionRow {
  return row.type === "action" && row.tool === "finish";
}

export function hasFailed(row: Row): boolean {
  if (row.type === "error") return true;
  if (row.type === "hook") return row.isBlocked;
  if (row.type !== "action" || row.outcome === null) return false;
  if (row.outcome.type !== "result") return true;
  const exitCode = row.outcome.observation["exit_code"];
  return row.outcome.isError || (typeof exitCode === "number" && exitCode > 0);
}

export function numbersOf({ message, rows }: Turn): TurnNumbers {
  const actions = rows.filter((row) => row.type === "action");
  const paths = new Set(actions.flatMap((row) => editsOf(row).map(({ path }) => path)));
  const first = message ?? rows[0];
  const last = rows.at(-1);
  const lastAt = last?.type === "action" ? (last.outcome?.at ?? last.at) : last?.at;
  return {
    steps: actions.filter((row) => !isFinish(row)).length,
    failed: rows.filter(hasFailed).length,
    files: paths.size,
    durationMs: first === undefined || lastAt === undefined ? 0 : Date.parse(lastAt) - Date.parse(first.at),
  };
}

/** The last answer of a turn, which is shown when the turn is collapsed. */
export function lastWord({ rows }: Turn): AnswerRow | ActionRow | null {
  return rows.findLast((row) => row.type === "answer" || isFinish(row)) ?? null;
}
