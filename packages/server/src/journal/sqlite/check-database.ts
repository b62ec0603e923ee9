import type { DatabaseSync } from "node:sqlite";
import { isBusy } from "../../database/sqlite-file.ts";
import { isStorageFault } from "./schema.ts";

/** SQLite's own check of a database: pages, rows, indexes against tables, references. One sentence for each damage. */
export function checkDatabase(database: DatabaseSync, onDamage: (sentence: string) => void): void {
  try {
    for (const row of database.prepare(`PRAGMA integrity_check(${maxFound})`).iterate()) {
      const [result] = Object.values(row).map(String);
      if (result !== "ok") onDamage(`SQLite finds: ${result?.replaceAll(/\s+/g, " ")}.`);
    }
    for (const { table, rowid } of database.prepare("PRAGMA foreign_key_check").iterate()) {
      onDamage(`Row ${String(rowid)} of table ${String(table)} refers to a row that is gone.`);
    }
  } catch (error) {
    // A lock of another process is no damage.
    if (!isStorageFault(error) || isBusy(error)) throw error;
    onDamage(`SQLite cannot read it: ${error.message}.`);
  }
}

const maxFound = 100;
