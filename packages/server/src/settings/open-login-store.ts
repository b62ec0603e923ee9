import { openTables } from "../database/open-application-database.ts";
import type { PostgresPlace } from "../database/postgres-place.ts";
import { silentLogger } from "../lib/logger.ts";
import { LoginStore } from "./login-store.ts";
import { systemClock } from "../lib/clock.ts";

export type OpenedLoginStore = AsyncDisposable & { readonly store: LoginStore };

/** Opens only the logins of a store; servers may use the store meanwhile. */
export async function openLoginStore(
  dataDir: string,
  place: PostgresPlace | null = null,
): Promise<OpenedLoginStore> {
  await using scope = new AsyncDisposableStack();
  const database = scope.use(await openTables({ dataDir, database: place }, silentLogger));
  const store = scope.use(
    await LoginStore.open({ database, clock: systemClock, logger: silentLogger, keyMarks: [] }),
  );
  const owned = scope.move();
  return { store, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
