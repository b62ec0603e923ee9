import type { DatabaseSync, StatementSync } from "node:sqlite";
import { isJsonIntact } from "../checksum.ts";
import { isIdBytes } from "../event-id.ts";
import type { TextPlace } from "../text-place.ts";

/** What reads of one part of a log need. */
export type Part = {
  readonly range: StatementSync;
  readonly around: StatementSync;
  readonly aroundDown: StatementSync;
  readonly json: StatementSync;
  readonly id: StatementSync;
  readonly timestamp: StatementSync;
  readonly nextTimestamp: StatementSync;
  readonly bytes: StatementSync;
};

export type RangeRow = [position: number, id: unknown, json: unknown, checksum: unknown];
export type OneRow = [
  position: number,
  id: unknown,
  timestamp: number,
  classCode: number,
  json: unknown,
  text: TextPlace,
  meta: string | null,
  checksum: unknown,
];
export type IntactRow = [
  position: number,
  id: Uint8Array,
  timestamp: number,
  classCode: number,
  json: string,
  text: TextPlace,
  meta: string | null,
  checksum: unknown,
];

export function isIntact(row: OneRow): row is IntactRow {
  const [position, id, , , json, , , checksum] = row;
  return isIdBytes(id) && isJsonIntact(position, json, checksum);
}

const whole = "position, id, timestamp, class, json, text, meta, checksum";
/** How many positions share one prepared search of their surroundings. */
export const windowSize = 32;

export function preparePart(database: DatabaseSync, table: "events" | "recent"): Part {
  const prepare = (columns: string, condition: string): StatementSync => {
    const statement = database.prepare(`SELECT ${columns} FROM ${table} WHERE ${condition}`);
    statement.setReturnArrays(true);
    return statement;
  };
  return {
    range: prepare("position, id, json, checksum", "position BETWEEN ? AND ? ORDER BY position"),
    around: prepare(whole, "position BETWEEN ? AND ? ORDER BY position"),
    aroundDown: prepare(whole, "position BETWEEN ? AND ? ORDER BY position DESC"),
    json: prepare("json, checksum", "position = ?"),
    id: prepare("id", "position = ?"),
    timestamp: prepare("timestamp", "position = ?"),
    nextTimestamp: prepare("position, timestamp", "position BETWEEN ? AND ? ORDER BY position LIMIT 1"),
    // How long a text is stands at the beginning of its row: nothing of the texts is read.
    bytes: prepare("total(octet_length(json))", "position BETWEEN ? AND ?"),
  };
}
