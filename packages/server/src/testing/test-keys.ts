import { setTimeout as sleep } from "node:timers/promises";
import { openTables } from "../database/open-application-database.ts";
import type { PostgresPlace } from "../database/postgres-place.ts";
import { silentLogger } from "../lib/logger.ts";
import type { KeyStore } from "../settings/key-store.ts";
import { openKeyStore } from "../settings/open-stores.ts";

export type TestKeys = AsyncDisposable & {
  readonly store: Pick<KeyStore, "create"> & {
    /** `key` as well where it is to open nothing from then on. */
    revoke(id: string, key?: string): Promise<void>;
    /** Sets the end of a key to the present. */
    expire(id: string, key: string): Promise<void>;
  };
};

/**
 * The keys of a server's store, as a command beside it has them. What is changed here holds at the server when it resolves; on PostgreSQL
 * that takes up to a second. `isKnown` asks the server.
 */
export async function openTestKeys(
  dataDir: string,
  place: PostgresPlace | null,
  isKnown: (key: string) => Promise<boolean>,
): Promise<TestKeys> {
  const { store, [Symbol.asyncDispose]: close } = await openKeyStore(dataDir, place);
  const until = async (key: string, isWanted: boolean): Promise<void> => {
    while ((await isKnown(key)) !== isWanted) await sleep(20);
  };
  return {
    store: {
      create: async (...asked) => {
        const created = await store.create(...asked);
        await until(created.key, true);
        return created;
      },
      revoke: async (id, key = "") => {
        await store.revoke(id);
        await until(key, false);
      },
      expire: async (id, key) => {
        await using database = await openTables({ dataDir, database: place }, silentLogger);
        const expired = { expires_at: Date.now() };
        await database.tables.updateTable("keys").set(expired).where("id", "=", id).execute();
        await until(key, false);
      },
    },
    [Symbol.asyncDispose]: close,
  };
}
