import { openTables } from "../database/open-application-database.ts";
import type { PostgresPlace } from "../database/postgres-place.ts";
import { silentLogger } from "../lib/logger.ts";
import { KeyStore } from "./key-store.ts";
import { systemClock } from "../lib/clock.ts";

export type OpenedKeyStore = AsyncDisposable & { readonly store: KeyStore };

/** Opens only the keys of a store; servers may use the store meanwhile. */
export async function openKeyStore(
  dataDir: string,
  place: PostgresPlace | null = null,
): Promise<OpenedKeyStore> {
  await using scope = new AsyncDisposableStack();
  const database = scope.use(await openTables({ dataDir, database: place }, silentLogger));
  const store = scope.use(await KeyStore.open({ database, clock: systemClock, logger: silentLogger }));
  const owned = scope.move();
  return { store, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
