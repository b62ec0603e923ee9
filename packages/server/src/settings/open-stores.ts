import type { ApplicationDatabase } from "../database/application-database.ts";
import { openTables } from "../database/open-application-database.ts";
import type { PostgresPlace } from "../database/postgres-place.ts";
import { systemClock as clock } from "../lib/clock.ts";
import { silentLogger as logger } from "../lib/logger.ts";
import { KeyStore } from "./key-store.ts";
import { LoginStore } from "./login-store.ts";
import { everyUser, PolicyStore } from "./policy-store.ts";
import { UserStore } from "./user-store.ts";

type Opened<Store> = AsyncDisposable & { readonly store: Store };

export type OpenedPolicyStore = Opened<PolicyStore> & {
  /** True for a user that there is, and for all of them together. */
  isKnown(userId: string): Promise<boolean>;
};

/** Opens only the keys of a store; servers may use the store meanwhile. */
export async function openKeyStore(dataDir: string, place?: PostgresPlace | null): Promise<Opened<KeyStore>> {
  return await openAlone(dataDir, place, async (database, scope) => ({
    store: scope.use(await KeyStore.open({ database, clock, logger })),
  }));
}

/** Opens only the logins of a store; servers may use the store meanwhile. */
export async function openLoginStore(
  dataDir: string,
  place?: PostgresPlace | null,
): Promise<Opened<LoginStore>> {
  return await openAlone(dataDir, place, async (database, scope) => ({
    store: scope.use(await LoginStore.open({ database, clock, logger, keyMarks: [] })),
  }));
}

/** Opens only the policies of a store; servers may use the store meanwhile. */
export async function openPolicyStore(
  dataDir: string,
  place?: PostgresPlace | null,
): Promise<OpenedPolicyStore> {
  return await openAlone(dataDir, place, async (database) => {
    const users = await UserStore.open(database);
    const isKnown = async (userId: string): Promise<boolean> =>
      userId === everyUser || (await users.list()).some(({ id }) => id === userId);
    return { store: await PolicyStore.open({ database, clock }), isKnown };
  });
}

async function openAlone<Parts extends object>(
  dataDir: string,
  place: PostgresPlace | null = null,
  open: (database: ApplicationDatabase, scope: AsyncDisposableStack) => Promise<Parts>,
): Promise<Parts & AsyncDisposable> {
  await using scope = new AsyncDisposableStack();
  const parts = await open(scope.use(await openTables({ dataDir, database: place }, logger)), scope);
  const owned = scope.move();
  return { ...parts, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
