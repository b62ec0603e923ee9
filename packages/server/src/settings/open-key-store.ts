import { openTables } from "../database/open-application-database.ts";
import type { PostgresPlace } from "../database/postgres-place.ts";
import { silentLogger } from "../lib/logger.ts";
import { KeyBook } from "./key-store.ts";

export type OpenedKeyBook = AsyncDisposable & { readonly book: KeyBook };

/** The key book of a store, on its own; servers on the same store may run meanwhile. */
export async function openKeyBook(
  dataDir: string,
  place: PostgresPlace | null = null,
): Promise<OpenedKeyBook> {
  await using scope = new AsyncDisposableStack();
  const database = scope.use(await openTables({ dataDir, database: place }, silentLogger));
  const book = scope.use(await KeyBook.open({ database, nowMs: Date.now, logger: silentLogger }));
  const owned = scope.move();
  return { book, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
