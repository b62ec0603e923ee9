import type { MetaProfileListResponse, metaProfileRoutes } from "@convoke/protocol";
import type { Handlers } from "../../../http/mount.ts";
import { deleteMetaProfile, requireMetaProfile, saveMetaProfile } from "../../../settings/meta-profiles.ts";
import type { FaceDeps } from "../../face-deps.ts";
import { changeSettings } from "./change-settings.ts";

/** Which model suits which work, stored for clients. Source: agent server 1.58. */
export function metaProfileHandlers({ settings }: FaceDeps) {
  return {
    listMetaProfiles: async ({ caller }) => {
      const { settings: stored } = await settings.load(caller.userId);
      const json: MetaProfileListResponse = {
        meta_profiles: Object.entries(stored.metaProfiles).map(([name, profile]) => ({
          name,
          classifier_model: profile.classifier_model,
          num_classes: (profile.classes ?? []).length,
        })),
        active_meta_profile: null,
      };
      return { json };
    },

    getMetaProfile: async ({ caller, params: { name } }) => {
      const config = requireMetaProfile((await settings.load(caller.userId)).settings, name);
      return { json: { name, config } };
    },

    saveMetaProfile: async ({ caller, params: { name }, body }) => {
      await changeSettings(settings, caller, (stored) => saveMetaProfile(stored, name, body));
      return { status: 201, json: { name, message: `Meta profile ${name} stored` } };
    },

    deleteMetaProfile: async ({ caller, params: { name } }) => {
      await settings.change(caller.userId, (stored) => deleteMetaProfile(stored, name));
      return { json: { name, message: `Meta profile ${name} deleted` } };
    },

    activateMetaProfile: async ({ caller, params: { name } }) => {
      requireMetaProfile((await settings.load(caller.userId)).settings, name);
      const message = `Meta profile ${name} is stored, but agents of this server do not route between models by it`;
      return { json: { name, message, applied: false } };
    },
  } satisfies Handlers<typeof metaProfileRoutes>;
}
