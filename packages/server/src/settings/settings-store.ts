import type { Transaction } from "kysely";
import type { Tables } from "../database/tables.ts";
import { profileChanges, type NamedProfile } from "./profile-changes.ts";
import { RevisionStore, type RevisionOrigin } from "./revision-store.ts";
import { completeSettings, defaultSettings, type StoredSettings } from "./stored-settings.ts";
import { addRow, changeRows, rowsWith } from "../database/rows.ts";
import type { SealedStoreDeps } from "./store-deps.ts";

/** Settings with the number of changes that led to them; 0 when none were ever stored. */
export type VersionedSettings = { readonly version: number; readonly settings: StoredSettings };

const unknownOrigin: RevisionOrigin = { author: null };

/**
 * One sealed document per user. Concurrent changes are applied one after the other; what a change makes of stored profiles is
 * recorded as revisions with it.
 */
export class SettingsStore {
  readonly revisions: RevisionStore;
  readonly #deps: SealedStoreDeps;

  constructor(deps: SealedStoreDeps) {
    this.#deps = deps;
    this.revisions = new RevisionStore(deps);
  }

  async load(userId: string): Promise<VersionedSettings> {
    const { database, secretBox } = this.#deps;
    const [row] = await database.read(rowsWith(database.tables, "settings", { user_id: userId }));
    if (row === undefined) return { version: 0, settings: defaultSettings };
    const stored = JSON.parse(secretBox.unseal(row.sealed_document)) as Partial<StoredSettings>;
    return { version: row.version, settings: completeSettings(stored) };
  }

  /** Applies a change to the newest settings; it is repeated after a concurrent change. */
  async change(
    userId: string,
    apply: (settings: StoredSettings) => StoredSettings,
    origin: RevisionOrigin = unknownOrigin,
  ): Promise<VersionedSettings> {
    for (;;) {
      const before = await this.load(userId);
      const settings = apply(before.settings);
      const after = { version: before.version + 1, settings };
      const changes = profileChanges(before.settings, settings);
      const isStored = await this.#deps.database.transaction(async (tables) => {
        if (!(await this.#replace(tables, userId, before.version, after))) return false;
        for (const change of changes) await this.revisions.record(tables, userId, change, origin);
        return true;
      });
      if (isStored) return after;
    }
  }

  /** Writes the newest revision of a profile that was read at a version, where it is missing; false when the version is another one now. */
  async ensureRevision(userId: string, version: number, profile: NamedProfile): Promise<boolean> {
    return await this.#deps.database.transaction(async (tables) => {
      // Locks the row, so that the profile is neither changed nor deleted meanwhile.
      if ((await changeRows(tables, "settings", { user_id: userId, version }, { version })) === 0)
        return false;
      await this.revisions.ensure(tables, userId, profile);
      return true;
    });
  }

  /** False when the stored version is not `expected` any more; then nothing has changed. */
  async #replace(
    tables: Transaction<Tables>,
    userId: string,
    expected: number,
    { version, settings }: VersionedSettings,
  ): Promise<boolean> {
    const { secretBox, clock } = this.#deps;
    const values = {
      version,
      sealed_document: secretBox.seal(JSON.stringify(settings)),
      updated_at: clock.nowMs(),
    };
    if (expected === 0) return await addRow(tables, "settings", { user_id: userId, ...values });
    return (await changeRows(tables, "settings", { user_id: userId, version: expected }, values)) > 0;
  }
}
