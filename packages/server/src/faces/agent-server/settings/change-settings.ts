import type { Caller } from "../../../security/caller.ts";
import { originOf } from "../../../settings/profile-history.ts";
import type { SettingsStore, VersionedSettings } from "../../../settings/settings-store.ts";
import type { StoredSettings } from "../../../settings/stored-settings.ts";

/** Changes the settings of a caller, who is the author of the revisions. */
export async function changeSettings(
  settings: SettingsStore,
  caller: Caller,
  change: (stored: StoredSettings) => StoredSettings,
): Promise<VersionedSettings> {
  return await settings.change(caller.userId, change, originOf(caller));
}
