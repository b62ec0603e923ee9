import type { LLMProfileList, llmProfileRoutes } from "@convoke/protocol";
import type { Handlers } from "../../../http/mount.ts";
import { notStored } from "../../../http/route-reply.ts";
import { Fault, invalidField } from "../../../lib/fault.ts";
import {
  activateProfile,
  deleteProfile,
  profileOf,
  renameProfile,
  requireProfile,
  saveProfile,
} from "../../../settings/profiles.ts";
import { resolveConnection } from "../../../settings/provider-connections.ts";
import { mergeChange } from "../../../settings/secret-fields.ts";
import { isKeySet, shownAddress, showModel, textOrNull } from "../../../settings/settings-views.ts";
import type { JsonObject, StoredSettings } from "../../../settings/stored-settings.ts";
import type { FaceDeps } from "../../face-deps.ts";
import { changeSettings } from "./change-settings.ts";
import { badExposure, readExposure } from "./expose-secrets.ts";
import { tryModel } from "./try-model.ts";

/** Stored models: those of `/api/v1/settings/profiles`, in the words of agent servers. */
export function llmProfileHandlers(deps: FaceDeps) {
  const { settings, sealedValues } = deps;
  return {
    listLlmProfiles: async ({ caller }) => {
      const { settings: stored } = await settings.load(caller.userId);
      const json: LLMProfileList = {
        profiles: Object.entries(stored.profiles).map(([name, llm]) => showProfile(stored, name, llm)),
        active_profile: stored.activeProfile,
      };
      return { json };
    },

    getLlmProfile: async (request) => {
      const exposure = readExposure(request, sealedValues);
      if (exposure === null) return badExposure;
      const name = request.params.name;
      const { settings: stored } = await settings.load(request.caller.userId);
      const own = requireProfile(stored, name);
      const llm = resolveConnection(stored, own) ?? own;
      // Without the header no part of a key is shown; `api_key_set` says whether there is one.
      const config = showModel(llm, exposure.isExposed ? exposure.shownAs : null);
      return {
        json: { name, config, api_key_set: isKeySet(llm) },
        ...(exposure.isExposed ? { headers: notStored } : {}),
      };
    },

    saveLlmProfile: async ({ caller, params: { name }, body }) => {
      const request = sealedValues.openIn(caller.userId, body, ["body"]);
      if ((request.llm ?? null) === null)
        throw invalidField(["body", "llm"], "Add this field: it is required.", "missing");
      // The named connection may be created later; until then the list marks the profile as broken, and it cannot be
      // used.
      await changeSettings(settings, caller, (stored) => saveProfile(stored, name, request));
      return { status: 201, json: { name, message: `Profile ${name} stored` } };
    },

    deleteLlmProfile: async ({ caller, params: { name } }) => {
      await changeSettings(settings, caller, (stored) => deleteProfile(stored, name));
      return { json: { name, message: `Profile ${name} deleted` } };
    },

    renameLlmProfile: async ({ caller, params, body }) => {
      const { new_name: newName } = body;
      await changeSettings(settings, caller, (stored) => renameProfile(stored, params.name, newName));
      return { json: { name: newName, message: `Profile ${params.name} is now ${newName}` } };
    },

    activateLlmProfile: async ({ caller, params: { name } }) => {
      await settings.change(caller.userId, (stored) => {
        if (resolveConnection(stored, requireProfile(stored, name)) === null)
          throw connectionMissing(["path", "name"]);
        return activateProfile(stored, name);
      });
      return { json: { name, message: `Profile ${name} is in use`, llm_applied: true } };
    },

    validateLlmProfile: async ({ caller, params, body, signal }) => {
      const { llm } = sealedValues.openIn(caller.userId, body, ["body"]);
      const { settings: stored } = await settings.load(caller.userId);
      // A masked or absent key means the key that is already stored under this name.
      const merged = mergeChange(keysOf(profileOf(stored, params.name)), llm, ["body", "llm"]);
      const resolved = resolveConnection(stored, merged);
      if (resolved === null) throw connectionMissing();
      return { json: await tryModel(resolved, deps, signal) };
    },
  } satisfies Handlers<typeof llmProfileRoutes>;
}

function showProfile(stored: StoredSettings, name: string, llm: JsonObject) {
  const connection = textOrNull(llm["provider_connection_id"]);
  const resolved = resolveConnection(stored, llm);
  return {
    name,
    model: textOrNull(llm["model"]),
    base_url: shownAddress(llm["base_url"]),
    provider_connection_id: connection,
    provider_connection_broken: resolved === null,
    api_key_set: resolved !== null && isKeySet(resolved),
  };
}

function connectionMissing(loc = ["body", "llm", "provider_connection_id"]): Fault {
  return invalidField(
    loc,
    "The provider connection that this model names is not there. Make it, or name another one.",
  );
}

function keysOf(llm: JsonObject | null): JsonObject {
  const keys = Object.entries(llm ?? {}).filter(([field]) =>
    /^(?:api_key|aws_.*(?:key|token|id))$/.test(field),
  );
  return Object.fromEntries(keys);
}
