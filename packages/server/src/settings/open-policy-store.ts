import { openTables } from "../database/open-application-database.ts";
import type { PostgresPlace } from "../database/postgres-place.ts";
import { systemClock } from "../lib/clock.ts";
import { silentLogger } from "../lib/logger.ts";
import { everyUser, PolicyStore } from "./policy-store.ts";
import { UserStore } from "./user-store.ts";

export type OpenedPolicyStore = AsyncDisposable & {
  readonly store: PolicyStore;
  /** True for a user that there is, and for all of them together. */
  isKnown(userId: string): Promise<boolean>;
};

/** Opens only the policies of a store; servers may use the store meanwhile. */
export async function openPolicyStore(
  dataDir: string,
  place: PostgresPlace | null = null,
): Promise<OpenedPolicyStore> {
  const database = await openTables({ dataDir, database: place }, silentLogger);
  const store = await PolicyStore.open({ database, clock: systemClock });
  const users = await UserStore.open(database);
  return {
    store,
    isKnown: async (userId) => userId === everyUser || (await users.list()).some(({ id }) => id === userId),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}
