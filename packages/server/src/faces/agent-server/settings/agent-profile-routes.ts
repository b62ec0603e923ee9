import type { Validator } from "@convoke/protocol/validate";
import { ACPAgentProfile, OpenHandsAgentProfile, type agentProfileRoutes } from "@convoke/protocol";
import type { Handlers } from "../../../http/mount.ts";
import { Fault, invalidField } from "../../../lib/fault.ts";
import {
  activateAgentProfile,
  deleteAgentProfile,
  hasActiveAgentProfile,
  renameAgentProfile,
  requireAgentProfile,
  saveAgentProfile,
  showAgentProfile,
  withActiveAgentProfile,
} from "../../../settings/agent-profiles.ts";
import { diagnoseAgentProfile } from "../../../settings/resolve-agent-profile.ts";
import type { FaceDeps } from "../../face-deps.ts";
import { changeSettings } from "./change-settings.ts";

/** Agents to launch. */
export function agentProfileHandlers({ settings, validator }: FaceDeps) {
  return {
    listAgentProfiles: async ({ caller }) => {
      const { settings: before } = await settings.load(caller.userId);
      const stored = hasActiveAgentProfile(before)
        ? before
        : (await changeSettings(settings, caller, withActiveAgentProfile)).settings;
      return {
        json: {
          profiles: Object.values(stored.agentProfiles).map(showAgentProfile),
          active_agent_profile_id: stored.activeAgentProfileId,
        },
      };
    },

    getAgentProfile: async ({ caller, params: { name } }) => {
      const profile = requireAgentProfile((await settings.load(caller.userId)).settings, name);
      return { json: { name, profile } };
    },

    saveAgentProfile: async ({ caller, params: { name }, body }) => {
      const profile = readProfile(body, validator);
      await changeSettings(settings, caller, (stored) => saveAgentProfile(stored, name, profile));
      return { status: 201, json: { name, message: `Agent profile ${name} stored` } };
    },

    deleteAgentProfile: async ({ caller, params: { name } }) => {
      await changeSettings(settings, caller, (stored) => deleteAgentProfile(stored, name));
      return { json: { name, message: `Agent profile ${name} deleted` } };
    },

    renameAgentProfile: async ({ caller, params, body }) => {
      const { new_name: newName } = body;
      if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(newName)) {
        const msg = "A name has 1 to 64 letters, digits, dots, dashes and underscores.";
        throw invalidField(["body", "new_name"], msg);
      }
      await changeSettings(settings, caller, (stored) => renameAgentProfile(stored, params.name, newName));
      return { json: { name: newName, message: `Agent profile ${params.name} is now ${newName}` } };
    },

    activateAgentProfile: async ({ caller, params: { profile_id: id } }) => {
      await settings.change(caller.userId, (stored) => activateAgentProfile(stored, id));
      return { json: { id, message: "The agent profile is in use", agent_settings_applied: false } };
    },

    materializeAgentProfile: async ({ caller, params }) => {
      const { settings: stored } = await settings.load(caller.userId);
      return { json: diagnoseAgentProfile(stored, requireAgentProfile(stored, params.name)) };
    },
  } satisfies Handlers<typeof agentProfileRoutes>;
}

/** Unknown fields of a profile are refused by name, so that nothing is silently dropped (P55). */
function readProfile(
  body: Record<string, unknown>,
  validator: Validator,
): OpenHandsAgentProfile | ACPAgentProfile {
  const schema = body["agent_kind"] === "acp" ? ACPAgentProfile : OpenHandsAgentProfile;
  const checked = validator.check<OpenHandsAgentProfile | ACPAgentProfile>(schema, body, ["body"]);
  if (checked.ok) return checked.value;
  throw new Fault("caller", "validation", "The agent profile is not valid.", checked.errors);
}
