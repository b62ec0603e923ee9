import type { LLM } from "@convoke/protocol";
import { profileOf } from "./profiles.ts";
import { resolveConnection } from "./provider-connections.ts";
import type { SettingsStore } from "./settings-store.ts";

/**
 * Finds a user's stored models by name, with keys; null when there is none, or when its connection no longer exists.
 */
export function findStoredModel(
  settings: Pick<SettingsStore, "load">,
  userId: string,
): (name: string) => Promise<LLM | null> {
  return async (name) => {
    const { settings: stored } = await settings.load(userId);
    const profile = profileOf(stored, name);
    return profile === null ? null : resolveConnection(stored, profile);
  };
}
