import type { ProfileListResponse, appServerRoutes } from "@convoke/protocol";
import type { Handlers } from "../../http/mount.ts";
import { activateProfile, requireProfile, saveProfile } from "../../settings/profiles.ts";
import { hideSecrets } from "../../settings/secret-fields.ts";
import { isKeySet, shownAddress, textOrNull } from "../../settings/settings-views.ts";
import { changeSettings } from "../agent-server/settings/change-settings.ts";
import type { FaceDeps } from "../face-deps.ts";
import { llmProfileHandlers } from "../agent-server/settings/profile-routes.ts";

/** Stored models. */
export function profileHandlers(deps: FaceDeps) {
  const { settings } = deps;
  const { deleteLlmProfile, renameLlmProfile } = llmProfileHandlers(deps);
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

    getProfile: async ({ caller, params: { name } }) => {
      const llm = requireProfile((await settings.load(caller.userId)).settings, name);
      return { json: { name, config: hideSecrets(llm, null), api_key_set: isKeySet(llm) } };
    },

    saveProfile: async ({ caller, params: { name }, body }) => {
      const request = body ?? {};
      await changeSettings(settings, caller, (stored) => saveProfile(stored, name, request));
      return { status: 201, json: { name, message: `Profile ${name} stored` } };
    },

    deleteProfile: deleteLlmProfile,

    activateProfile: async ({ caller, params: { name } }) => {
      const { settings: after } = await settings.change(caller.userId, (stored) =>
        activateProfile(stored, name),
      );
      return { json: { name, message: `Profile ${name} is in use`, model: textOrNull(after.llm["model"]) } };
    },

    renameProfile: renameLlmProfile,
  } satisfies Partial<Handlers<typeof appServerRoutes>>;
}
