import { isDeepStrictEqual } from "node:util";
import type { SettingsUsed, UsedProfile } from "@convoke/protocol";
import { invalidField } from "../lib/fault.ts";
import { isObject } from "../lib/json-object.ts";
import { findById } from "./agent-profiles.ts";
import type { ProfileHistory } from "./profile-history.ts";
import { profileOf } from "./profiles.ts";
import type { VersionedSettings } from "./settings-store.ts";
import type { JsonObject, StoredSettings } from "./stored-settings.ts";

/** The settings as a create request wants them, and the profiles that its agent is made of. */
export type ChosenProfiles = {
  readonly settings: StoredSettings;
  /** Undefined where the agent is of no profile. */
  readonly used: SettingsUsed | undefined;
};

/**
 * The settings with the revisions that a create request names in the place of the newest ones. A request with an agent of its own, or
 * with a description of one, uses no profile.
 */
export async function chooseProfiles(
  history: Pick<ProfileHistory, "use">,
  userId: string,
  versioned: VersionedSettings,
  request: unknown,
): Promise<ChosenProfiles> {
  const { settings } = versioned;
  if (!isObject(request)) return { settings, used: undefined };
  const { profile_name: name = null, profile_revision: revision = null } = request;
  const { agent_profile_id: agentId = null, agent_profile_revision: agentRevision = null } = request;
  const hasOwn = (request["agent"] ?? null) !== null || isObject(request["agent_settings"]);
  requireName("profile_revision", revision, "profile_name", name);
  requireName("agent_profile_revision", agentRevision, "agent_profile_id", agentId);
  if (hasOwn && name !== null)
    throw invalidField(
      ["body", "profile_name"],
      "The request has an agent of its own. Leave one of the two out.",
    );
  // Values of another type are left for the check of the request.
  if (hasOwn || !isName(name) || !isName(agentId) || !isNumber(revision) || !isNumber(agentRevision))
    return { settings, used: undefined };
  const agent = await agentOf(
    history,
    userId,
    versioned,
    agentId ?? settings.activeAgentProfileId,
    agentRevision,
  );
  const modelName = name ?? modelNameOf(agent.settings, agent.content);
  const isNamed = name !== null;
  if (isNamed && profileOf(settings, name) === null)
    throw invalidField(["body", "profile_name"], "There is no model profile with this name.");
  const model =
    modelName === null || profileOf(settings, modelName) === null
      ? null
      : await history.use(userId, versioned, { kind: "model", name: modelName }, revision, [
          "body",
          "profile_revision",
        ]);
  if (agent.used === null && model === null) return { settings, used: undefined };
  const withModel =
    model === null || !isNamed
      ? agent.settings
      : {
          ...agent.settings,
          ...modelInstead(agent, { name, content: model.profile.content }),
        };
  return {
    settings: withModel,
    used: {
      settings_version: versioned.version,
      agent_profile: agent.used,
      model_profile: model?.used ?? null,
    },
  };
}

type ChosenAgent = {
  readonly settings: StoredSettings;
  /** Null: the agent is that of the settings. */
  readonly content: JsonObject | null;
  readonly used: UsedProfile | null;
};

async function agentOf(
  history: Pick<ProfileHistory, "use">,
  userId: string,
  versioned: VersionedSettings,
  id: string | null,
  revision: number | null,
): Promise<ChosenAgent> {
  const { settings } = versioned;
  const stored = id === null ? null : findById(settings, id);
  // One that the request names and that is not there is reported where its settings are read.
  if (stored === null) return { settings, content: null, used: null };
  const name = String(stored["name"]);
  const { profile, used } = await history.use(userId, versioned, { kind: "agent", name }, revision, [
    "body",
    "agent_profile_revision",
  ]);
  const content = { ...profile.content, id: stored["id"], name };
  const agentProfiles = { ...settings.agentProfiles, [name]: content };
  return { settings: { ...settings, agentProfiles }, content, used };
}

/** The stored model that an agent profile names, or that is in use and was not changed since. */
function modelNameOf(settings: StoredSettings, agent: JsonObject | null): string | null {
  const { activeProfile, llm } = settings;
  const named = agent?.["llm_profile_ref"];
  if (typeof named === "string" && profileOf(settings, named) !== null) return named;
  const active = activeProfile === null ? null : profileOf(settings, activeProfile);
  return active !== null && isDeepStrictEqual(active, llm) ? activeProfile : null;
}

/** The named model in the place of that of the agent profile, or of the settings. */
function modelInstead(
  { settings, content: agent }: ChosenAgent,
  { name, content }: { readonly name: string; readonly content: JsonObject },
): Partial<StoredSettings> {
  const profiles = { ...settings.profiles, [name]: content };
  if (agent === null) return { profiles, llm: content, activeProfile: name };
  const agentName = String(agent["name"]);
  return {
    profiles,
    agentProfiles: { ...settings.agentProfiles, [agentName]: { ...agent, llm_profile_ref: name } },
  };
}

function requireName(field: string, revision: unknown, nameField: string, name: unknown): void {
  if (revision === null || name !== null) return;
  throw invalidField(["body", field], `This is a revision of a profile. Name the profile in ${nameField}.`);
}

function isName(value: unknown): value is string | null {
  return value === null || typeof value === "string";
}

function isNumber(value: unknown): value is number | null {
  return value === null || Number.isInteger(value);
}
