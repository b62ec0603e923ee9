import { PostgresAdapter, type Kysely } from "kysely";

/** Which database it is; for what migrations cannot say in one way. */
export function isPostgres(database: Pick<Kysely<unknown>, "getExecutor">): boolean {
  return database.getExecutor().adapter instanceof PostgresAdapter;
}
