import type { POSTProviderModel, SettingsStored, SettingsUpdate, legacyRoutes } from "@convoke/protocol";
import type { RouteRequest, Handlers } from "../../http/mount.ts";
import type { SettingsStore } from "../../settings/settings-store.ts";
import { updateSettings, updateTokens } from "../../settings/update-settings.ts";
import { changeSettings } from "../agent-server/settings/change-settings.ts";
import { loadSettingsHandler } from "../agent-server/settings/settings-routes.ts";
import type { FaceDeps } from "../face-deps.ts";

/** The settings as the contract has them, and provider tokens. Source: contract 4.3. */
export function settingsHandlers({ settings, sealedValues }: FaceDeps) {
  return {
    loadSettings: loadSettingsHandler(settings, sealedValues),

    storeSettings: storeSettings(settings),

    resetSettings: () => ({
      status: 410,
      json: { error: "Settings are changed one by one; this route is gone." },
    }),

    storeProviderTokens: async ({ caller, body }) => {
      await storeTokens(settings, caller.userId, body);
      return { json: { message: "Git providers stored" } };
    },

    unsetProviderTokens: async ({ caller }) => {
      await removeTokens(settings, caller.userId);
      return { json: { message: "Unset Git provider tokens" } };
    },
  } satisfies Partial<Handlers<typeof legacyRoutes>>;
}

/** The same on every face: changes the fields in the body, and returns when the change takes effect (P33, P34). */
export function storeSettings(settings: SettingsStore) {
  return async ({
    caller,
    body: update,
  }: Pick<RouteRequest, "caller"> & { readonly body: SettingsUpdate }) => {
    const { version } = await changeSettings(settings, caller, (stored) => updateSettings(stored, update));
    const json: SettingsStored = { message: "Settings stored", applies_from: "new conversations", version };
    return { json };
  };
}

export async function storeTokens(
  settings: SettingsStore,
  userId: string,
  { provider_tokens: tokens, mcp_config: mcp }: POSTProviderModel,
): Promise<void> {
  await settings.change(userId, (stored) => {
    const changed = updateTokens(stored, tokens ?? {});
    return mcp === undefined || mcp === null ? changed : updateSettings(changed, { mcp_config: mcp });
  });
}

export async function removeTokens(settings: SettingsStore, userId: string): Promise<void> {
  await settings.change(userId, (stored) => ({ ...stored, providerTokens: {} }));
}
