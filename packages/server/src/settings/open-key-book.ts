import { openApplicationDatabase } from "../database/application-database.ts";
import { silentLogger } from "../lib/logger.ts";
import { KeyBook } from "./key-book.ts";

export type OpenedKeyBook = AsyncDisposable & { readonly book: KeyBook };

/** The key book of a data folder, on its own; servers on the same folder may run meanwhile. */
export async function openKeyBook(dataDir: string): Promise<OpenedKeyBook> {
  await using scope = new AsyncDisposableStack();
  const database = scope.use(await openApplicationDatabase(dataDir));
  const book = scope.use(new KeyBook({ database, nowMs: Date.now, logger: silentLogger }));
  const owned = scope.move();
  return { book, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
