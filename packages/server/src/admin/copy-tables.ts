import { isDeepStrictEqual } from "node:util";
import { sql } from "kysely";
import type { ApplicationDatabase } from "../database/application-database.ts";
import { isPostgres } from "../database/is-postgres.ts";
import { keysOf } from "../database/table-keys.ts";

/** Sandboxes belong to their machines, and stay there. */
export const copiedTables = (Object.keys(keysOf) as (keyof typeof keysOf)[]).filter(
  (name) => name !== "sandboxes",
);

export type CopiedTables = {
  readonly rows: number;
  /** Rows that already exist at the target with other values, such as `settings local`. They are not changed. */
  readonly differing: readonly string[];
  /** Rows that the target cannot store. They are left out. */
  readonly unstorable: readonly string[];
};

type Row = Readonly<Record<string, unknown>>;

type Sides = {
  readonly source: ApplicationDatabase;
  readonly target: ApplicationDatabase;
  readonly unsealAtSource: (sealed: string) => string;
  readonly unsealAtTarget: (sealed: string) => string;
  readonly reseal: (sealed: string) => string;
};

/** Copies all rows of the application to another store, and compares them there. Existing rows stay. */
export async function copyTables(sides: Sides): Promise<CopiedTables> {
  const differing: string[] = [];
  const unstorable: string[] = [];
  let count = 0;
  for (const name of copiedTables) {
    const found = await readRows(sides.source, name);
    const rows = found.filter((row) => isStorable(sides.target, row));
    unstorable.push(
      ...found
        .filter((row) => !rows.includes(row))
        .map((row) => `${name} ${JSON.stringify(keyOf(name, row))}`),
    );
    await sides.target.transaction(async (tables) => {
      for (const row of rows) {
        await tables
          .insertInto(name)
          .values(mapSealed(row, sides.reseal))
          .onConflict((conflict) => conflict.doNothing())
          .execute();
      }
    });
    const there = new Map((await readRows(sides.target, name)).map((row) => [keyOf(name, row), row]));
    for (const row of rows) {
      const key = keyOf(name, row);
      const found = there.get(key);
      const isSame =
        found !== undefined &&
        (name === "users" ||
          isDeepStrictEqual(mapSealed(found, sides.unsealAtTarget), mapSealed(row, sides.unsealAtSource)));
      if (isSame) count += 1;
      else differing.push(`${name} ${key}`);
    }
  }
  await goOnCounting(sides.target);
  return { rows: count, differing, unstorable };
}

/** PostgreSQL refuses NUL, and its driver replaces half a surrogate pair by another character. */
function isStorable({ tables }: ApplicationDatabase, row: Row): boolean {
  if (!isPostgres(tables)) return true;
  return Object.values(row).every(
    (value) => typeof value !== "string" || (!value.includes("\0") && value.isWellFormed()),
  );
}

async function readRows({ tables }: ApplicationDatabase, name: keyof typeof keysOf): Promise<readonly Row[]> {
  return await tables.selectFrom(name).selectAll().execute();
}

function keyOf(name: keyof typeof keysOf, row: Row): string {
  return keysOf[name].map((column) => String(row[column])).join(" ");
}

function mapSealed(row: Row, change: (sealed: string) => string): Row {
  const entries = Object.entries(row).map(([column, value]): [string, unknown] =>
    column.startsWith("sealed_") && typeof value === "string" ? [column, change(value)] : [column, value],
  );
  return Object.fromEntries(entries);
}

/** SQLite counts from the highest number by itself. */
async function goOnCounting({ tables }: ApplicationDatabase): Promise<void> {
  if (!isPostgres(tables)) return;
  await sql`SELECT setval(pg_get_serial_sequence('convoke.pending_messages', 'number'), max(number))
    FROM convoke.pending_messages HAVING max(number) IS NOT NULL`.execute(tables);
}
