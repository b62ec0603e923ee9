import type { ApplicationDatabase } from "../database/application-database.ts";
import type { SecretBox } from "../security/seal.ts";
import { completeSettings, defaultSettings, type StoredSettings } from "./stored-settings.ts";
import type { Clock } from "../lib/clock.ts";

export type SettingsStoreDeps = {
  readonly database: ApplicationDatabase;
  readonly secretBox: SecretBox;
  readonly clock: Clock;
};

/** Settings with the number of changes that led to them; 0 when none were ever stored. */
export type VersionedSettings = { readonly version: number; readonly settings: StoredSettings };

/** One sealed document per user. Concurrent changes are applied one after the other. */
export class SettingsStore {
  readonly #deps: SettingsStoreDeps;

  constructor(deps: SettingsStoreDeps) {
    this.#deps = deps;
  }

  async load(userId: string): Promise<VersionedSettings> {
    const { database, secretBox } = this.#deps;
    const query = database.tables
      .selectFrom("settings")
      .select(["version", "sealed_document"])
      .where("user_id", "=", userId);
    const [row] = await database.read(query);
    if (row === undefined) return { version: 0, settings: defaultSettings };
    const stored = JSON.parse(secretBox.unseal(row.sealed_document)) as Partial<StoredSettings>;
    return { version: row.version, settings: completeSettings(stored) };
  }

  /** Applies a change to the newest settings; it is repeated after a concurrent change. */
  async change(
    userId: string,
    apply: (settings: StoredSettings) => StoredSettings,
  ): Promise<VersionedSettings> {
    for (;;) {
      const before = await this.load(userId);
      const settings = apply(before.settings);
      const after = { version: before.version + 1, settings };
      if (await this.#replace(userId, before.version, after)) return after;
    }
  }

  /** False when the stored version is not `expected` any more; then nothing has changed. */
  async #replace(
    userId: string,
    expected: number,
    { version, settings }: VersionedSettings,
  ): Promise<boolean> {
    const { database, secretBox, clock } = this.#deps;
    const values = {
      version,
      sealed_document: secretBox.seal(JSON.stringify(settings)),
      updated_at: clock.nowMs(),
    };
    if (expected === 0) {
      const { numInsertedOrUpdatedRows } = await database.tables
        .insertInto("settings")
        .values({ user_id: userId, ...values })
        .onConflict((conflict) => conflict.column("user_id").doNothing())
        .executeTakeFirst();
      return numInsertedOrUpdatedRows === 1n;
    }
    const { numUpdatedRows } = await database.tables
      .updateTable("settings")
      .set(values)
      .where("user_id", "=", userId)
      .where("version", "=", expected)
      .executeTakeFirst();
    return numUpdatedRows === 1n;
  }
}
