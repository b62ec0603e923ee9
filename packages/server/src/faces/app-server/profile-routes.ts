import type { ProfileListResponse, RenameProfileRequest, SaveProfileRequest } from "@convoke/protocol";
import type { RouteHandler } from "../../http/mount.ts";
import {
  activateProfile,
  deleteProfile,
  renameProfile,
  requireProfile,
  saveProfile,
} from "../../settings/profiles.ts";
import { hideSecrets } from "../../settings/secret-fields.ts";
import { originOf } from "../../settings/profile-history.ts";
import type { SettingsStore } from "../../settings/settings-store.ts";
import { isKeySet, shownAddress, textOrNull } from "../../settings/settings-views.ts";

export type ProfileRouteDeps = { readonly settings: SettingsStore };

/** Stored models. */
export function profileHandlers({ settings }: ProfileRouteDeps) {
  return {
    listProfiles: async ({ caller }) => {
      const { profiles, activeProfile } = (await settings.load(caller.userId)).settings;
      const json: ProfileListResponse = {
        profiles: Object.entries(profiles).map(([name, llm]) => ({
          name,
          model: textOrNull(llm["model"]),
          base_url: shownAddress(llm["base_url"]),
          api_key_set: isKeySet(llm),
        })),
        active_profile: activeProfile,
      };
      return { json };
    },

    getProfile: async ({ caller, params }) => {
      const name = params["name"]!;
      const llm = requireProfile((await settings.load(caller.userId)).settings, name);
      return { json: { name, config: hideSecrets(llm, null), api_key_set: isKeySet(llm) } };
    },

    saveProfile: async ({ caller, params, body }) => {
      const name = params["name"]!;
      const request = (body ?? {}) as SaveProfileRequest;
      await settings.change(caller.userId, (stored) => saveProfile(stored, name, request), originOf(caller));
      return { status: 201, json: { name, message: `Profile ${name} stored` } };
    },

    deleteProfile: async ({ caller, params }) => {
      const name = params["name"]!;
      await settings.change(caller.userId, (stored) => deleteProfile(stored, name), originOf(caller));
      return { json: { name, message: `Profile ${name} deleted` } };
    },

    activateProfile: async ({ caller, params }) => {
      const name = params["name"]!;
      const { settings: after } = await settings.change(caller.userId, (stored) =>
        activateProfile(stored, name),
      );
      return { json: { name, message: `Profile ${name} is in use`, model: textOrNull(after.llm["model"]) } };
    },

    renameProfile: async ({ caller, params, body }) => {
      const { new_name: newName } = body as RenameProfileRequest;
      await settings.change(
        caller.userId,
        (stored) => renameProfile(stored, params["name"]!, newName),
        originOf(caller),
      );
      return { json: { name: newName, message: `Profile ${params["name"]!} is now ${newName}` } };
    },
  } satisfies Record<string, RouteHandler>;
}
