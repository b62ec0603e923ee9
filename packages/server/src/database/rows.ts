import type {
  DeleteQueryBuilder,
  DeleteResult,
  ExpressionBuilder,
  Insertable,
  Kysely,
  SelectQueryBuilder,
  Selectable,
  Updateable,
} from "kysely";
import { keysOf } from "./table-keys.ts";
import type { Tables } from "./tables.ts";

type Named = keyof typeof keysOf;
/** The tables, in a transaction or not. */
type Access = Pick<Kysely<Tables>, "deleteFrom" | "insertInto" | "selectFrom" | "updateTable">;
type Row = Readonly<Record<string, unknown>>;
type Untyped = Record<string, Record<string, unknown>>;

/** What rows have in some of their columns; a list stands for any of its values, an empty one for none. */
export type Wanted<Table extends Named> = {
  readonly [Column in keyof Selectable<Tables[Table]>]?:
    | Selectable<Tables[Table]>[Column]
    | readonly Selectable<Tables[Table]>[Column][];
};

/** The rows that have these values. */
export function rowsWith<Table extends Named>(
  tables: Pick<Access, "selectFrom">,
  table: Table,
  wanted: Wanted<Table>,
): SelectQueryBuilder<Tables, Table, Selectable<Tables[Table]>> {
  const query = untyped(tables)
    .selectFrom(nameOf(table))
    .selectAll()
    .where((is) => matching(is, wanted));
  return query as unknown as SelectQueryBuilder<Tables, Table, Selectable<Tables[Table]>>;
}

/** Stores a row; where there is one with its key, that gets all other values of this one. */
export async function putRow<Table extends Named>(
  tables: Pick<Access, "insertInto">,
  table: Table,
  row: Insertable<Tables[Table]>,
): Promise<void> {
  const keys: readonly string[] = keysOf[table];
  const values = Object.fromEntries(Object.entries(row).filter(([column]) => !keys.includes(column)));
  const insert = untyped(tables).insertInto(nameOf(table)).values(row);
  await insert.onConflict((conflict) => conflict.columns([...keys]).doUpdateSet(values)).execute();
}

/** False where there is a row with its key, which stays as it is. */
export async function addRow<Table extends Named>(
  tables: Pick<Access, "insertInto">,
  table: Table,
  row: Insertable<Tables[Table]>,
): Promise<boolean> {
  const insert = untyped(tables).insertInto(nameOf(table)).values(row);
  const added = insert.onConflict((conflict) => conflict.columns([...keysOf[table]]).doNothing());
  return (await added.executeTakeFirstOrThrow()).numInsertedOrUpdatedRows === 1n;
}

/** How many rows with these values were changed. */
export async function changeRows<Table extends Named>(
  tables: Pick<Access, "updateTable">,
  table: Table,
  wanted: Wanted<Table>,
  change: Updateable<Tables[Table]>,
): Promise<number> {
  const update = untyped(tables)
    .updateTable(nameOf(table))
    .set(change as Record<string, unknown>);
  const result = await update.where((is) => matching(is, wanted)).executeTakeFirstOrThrow();
  return Number(result.numUpdatedRows);
}

/** How many rows with these values were there until now. */
export async function removeRows<Table extends Named>(
  tables: Pick<Access, "deleteFrom">,
  table: Table,
  wanted: Wanted<Table>,
): Promise<number> {
  const removal = untyped(tables).deleteFrom(nameOf(table));
  const result = await removal.where((is) => matching(is, wanted)).executeTakeFirstOrThrow();
  return Number(result.numDeletedRows);
}

/** Removes all rows with these values, one for each but the last column of the key, without the `max` that are the highest by `column`. */
export function removalBeyond<Table extends Named>(
  tables: Pick<Access, "deleteFrom" | "selectFrom">,
  table: Table,
  wanted: Wanted<Table>,
  { column, max }: { readonly column: keyof Tables[Table] & string; readonly max: number },
): DeleteQueryBuilder<Tables, Table, DeleteResult> {
  const key: string = keysOf[table].at(-1)!;
  const highest = untyped(tables)
    .selectFrom(nameOf(table))
    .select([column, key])
    .where((is) => matching(is, wanted))
    .orderBy(column, "desc")
    .orderBy(key, "desc")
    .offset(max)
    .limit(1)
    // A row of both columns, for the comparison of tuples.
    .$castTo<Record<string, never>>();
  const removal = untyped(tables)
    .deleteFrom(nameOf(table))
    .where((is) => is.and([matching(is, wanted), is(is.refTuple(column, key), "<=", highest)]));
  return removal as unknown as DeleteQueryBuilder<Tables, Table, DeleteResult>;
}

/** Which columns a table has is checked where the functions above are called. */
function untyped(tables: unknown): Kysely<Untyped> {
  return tables as Kysely<Untyped>;
}

function nameOf(table: Named): string {
  return table;
}

function matching(is: ExpressionBuilder<Untyped, string>, wanted: Row) {
  return is.and(
    Object.entries(wanted).map(([column, value]) => {
      // PostgreSQL refuses a list of nothing.
      if (Array.isArray(value) && value.length === 0) return is.lit(false);
      return is(column, Array.isArray(value) ? "in" : value === null ? "is" : "=", value);
    }),
  );
}
