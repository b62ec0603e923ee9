import type { MetaProfile, MetaProfileListResponse } from "@convoke/protocol";
import type { RouteHandler } from "../../../http/mount.ts";
import { deleteMetaProfile, requireMetaProfile, saveMetaProfile } from "../../../settings/meta-profiles.ts";
import type { SettingsStore } from "../../../settings/settings-store.ts";
import { originOf } from "../../../settings/profile-history.ts";

export type MetaProfileRouteDeps = { readonly settings: SettingsStore };

/** Which model suits which work, stored for clients. Source: agent server 1.58. */
export function metaProfileHandlers({ settings }: MetaProfileRouteDeps) {
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

    getMetaProfile: async ({ caller, params }) => {
      const name = params["name"]!;
      const config = requireMetaProfile((await settings.load(caller.userId)).settings, name);
      return { json: { name, config } };
    },

    saveMetaProfile: async ({ caller, params, body }) => {
      const name = params["name"]!;
      await settings.change(
        caller.userId,
        (stored) => saveMetaProfile(stored, name, body as MetaProfile),
        originOf(caller),
      );
      return { status: 201, json: { name, message: `Meta profile ${name} stored` } };
    },

    deleteMetaProfile: async ({ caller, params }) => {
      const name = params["name"]!;
      await settings.change(caller.userId, (stored) => deleteMetaProfile(stored, name));
      return { json: { name, message: `Meta profile ${name} deleted` } };
    },

    activateMetaProfile: async ({ caller, params }) => {
      const name = params["name"]!;
      requireMetaProfile((await settings.load(caller.userId)).settings, name);
      const message = `Meta profile ${name} is stored, but agents of this server do not route between models by it`;
      return { json: { name, message, applied: false } };
    },
  } satisfies Record<string, RouteHandler>;
}
