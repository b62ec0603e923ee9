import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { inFile } from "../lib/storage-fault.ts";
import { CachedStatements } from "./cached-statements.ts";
import {
  SqliteAdapter,
  SqliteDialect,
  type Dialect,
  type SqliteDatabase,
  type SqliteStatement,
} from "kysely";

/** Lets Kysely speak to a connection of Node's own SQLite, which it owns from here on. */
export function createSqliteDialect(database: DatabaseSync): Dialect {
  const statements = new CachedStatements(database);
  const adapted: SqliteDatabase = {
    close: () => database.close(),
    prepare: (sql) => prepare(database, statements, sql),
  };
  const dialect = new SqliteDialect({ database: adapted });
  return {
    createAdapter: () => new MigratingAdapter(),
    createDriver: () => dialect.createDriver(),
    createQueryCompiler: () => dialect.createQueryCompiler(),
    createIntrospector: (tables) => dialect.createIntrospector(tables),
  };
}

/** SQLite makes tables in transactions as well: of all that migrate at once one does it, and one that dies has changed nothing. */
class MigratingAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/** Transactions take the write lock at once: one that reads first could not write after another process did. */
function prepare(database: DatabaseSync, statements: CachedStatements, sql: string): SqliteStatement {
  const named = <Result>(work: () => Result): Result => {
    try {
      return work();
    } catch (error) {
      throw inFile(error, database.location() ?? "a database");
    }
  };
  const text = sql === "begin" ? "begin immediate" : sql;
  const statement = named(() => statements.get(text));
  const values = (parameters: readonly unknown[]) => parameters as readonly SQLInputValue[];
  return {
    reader: statement.columns().length > 0,
    all: (parameters) => named(() => statement.all(...values(parameters))),
    run: (parameters) => {
      // A full disk has already rolled back the transaction: report the original error, not that of the rollback.
      if (sql === "rollback" && !database.isTransaction) return { changes: 0, lastInsertRowid: 0 };
      return named(() => statement.run(...values(parameters)));
    },
    // Not run to its end when something else is asked for.
    iterate: (parameters) => database.prepare(text).iterate(...values(parameters)),
  };
}
