import { randomUUID } from "node:crypto";
import type { ACPAgentProfile, AgentProfileInfo, OpenHandsAgentProfile } from "@convoke/protocol";
import { Fault } from "../lib/fault.ts";
import { refuseMasks } from "./secret-fields.ts";
import type { JsonObject, StoredSettings } from "./stored-settings.ts";
import { withoutUndefined } from "../lib/without-undefined.ts";
import { isObject } from "../lib/json-object.ts";

const maxProfiles = 50;
const firstName = "default";
/** The name of the settings' model in references, unless a stored model has this name. */
export const modelOfSettings = "default";
/** Fields of a profile that the server sets, whatever a client sends. */
const ownFields = new Set(["id", "name", "revision", "schema_version"]);

/** An agent behind the protocol has its own, and validators of clients refuse these in its profile. */
const ofOurAgents = new Set(["skills", "disabled_skills", "system_message_suffix"]);

/** Empty values of these fields are left out: old clients' validators do not know some, and new ones refuse others. */
const saysNothing: Readonly<Record<string, unknown>> = {
  condenser: null,
  verification: null,
  persona: null,
  public_skills: null,
  secret_refs: null,
  meta_profile_ref: null,
  enable_classify_and_switch_llm_tool: false,
  enable_sub_agents: false,
};

/** Stores an agent profile under a name; one of this name is replaced and keeps its id. */
export function saveAgentProfile(
  settings: StoredSettings,
  name: string,
  given: OpenHandsAgentProfile | ACPAgentProfile,
): StoredSettings {
  const before = find(settings, name);
  if (before === null && Object.keys(settings.agentProfiles).length >= maxProfiles) {
    throw new Fault("conflict", "too_many_profiles", `A user has at most ${maxProfiles} agent profiles.`);
  }
  refuseMasks(given, ["body"]);
  const fields = reporting(given).filter(([field]) => !ownFields.has(field));
  const profile = {
    ...defaultsOf(given.agent_kind ?? "openhands"),
    ...Object.fromEntries(fields),
    schema_version: 1,
    id: before?.["id"] ?? randomUUID(),
    name,
    revision: Number(before?.["revision"] ?? -1) + 1,
  };
  return { ...settings, agentProfiles: { ...settings.agentProfiles, [name]: profile } };
}

/** Stores an agent profile as it is in a revision, under the name that it has now. */
export function restoreAgentProfile(
  settings: StoredSettings,
  name: string,
  content: JsonObject,
): StoredSettings {
  requireAgentProfile(settings, name);
  return saveAgentProfile(settings, name, content as OpenHandsAgentProfile | ACPAgentProfile);
}

/** The settings without the profile, whether or not it existed. */
export function deleteAgentProfile(settings: StoredSettings, name: string): StoredSettings {
  const id = find(settings, name)?.["id"];
  const { [name]: _, ...agentProfiles } = settings.agentProfiles;
  const isActive = id !== undefined && id === settings.activeAgentProfileId;
  return {
    ...settings,
    agentProfiles,
    activeAgentProfileId: isActive ? null : settings.activeAgentProfileId,
  };
}

export function renameAgentProfile(settings: StoredSettings, name: string, newName: string): StoredSettings {
  const profile = requireAgentProfile(settings, name);
  if (newName === name) return settings;
  if (find(settings, newName) !== null) {
    throw new Fault("conflict", "profile_exists", `There is an agent profile ${newName} already.`);
  }
  const { [name]: _, ...others } = settings.agentProfiles;
  const renamed = { ...profile, name: newName, revision: Number(profile["revision"]) + 1 };
  return { ...settings, agentProfiles: { ...others, [newName]: renamed } };
}

/** Points to the profile; the settings of the agent stay as they are. */
export function activateAgentProfile(settings: StoredSettings, id: string): StoredSettings {
  if (findById(settings, id) === null) throw missing(id);
  return { ...settings, activeAgentProfileId: id };
}

/** As clients validate it; profiles that were stored before hold nulls that they refuse. */
export function requireAgentProfile(settings: StoredSettings, name: string): JsonObject {
  const profile = find(settings, name);
  if (profile === null) throw missing(name);
  const isModelMissing = profile["agent_kind"] !== "acp" && typeof profile["llm_profile_ref"] !== "string";
  const isAcp = profile["agent_kind"] === "acp";
  return {
    ...Object.fromEntries(reporting(profile).filter(([field, value]) => isShown(isAcp, field, value))),
    ...(isModelMissing ? { llm_profile_ref: modelOfSettings } : {}),
  };
}

/** Lists of skills are of releases before: an empty one says nothing, and validators of clients refuse it. */
function isShown(isAcp: boolean, field: string, value: unknown): boolean {
  if (isAcp) return !ofOurAgents.has(field);
  return field !== "skills" || !Array.isArray(value) || value.length > 0;
}

/** Null when there is none. */
export function findById({ agentProfiles }: StoredSettings, id: string): JsonObject | null {
  return Object.values(agentProfiles).find((profile) => profile["id"] === id) ?? null;
}

/**
 * Newer clients take for granted that one agent profile is active: without one it is that of the name `default`, which is made of the
 * settings as they are when it is missing.
 */
export function withActiveAgentProfile(settings: StoredSettings): StoredSettings {
  if (hasActiveAgentProfile(settings)) return settings;
  const isThere = find(settings, firstName) !== null;
  const isFull = Object.keys(settings.agentProfiles).length >= maxProfiles;
  const seeded = isThere || isFull ? settings : saveAgentProfile(settings, firstName, ofSettings(settings));
  const chosen = find(seeded, firstName) ?? Object.values(seeded.agentProfiles)[0];
  return activateAgentProfile(seeded, String(chosen!["id"]));
}

export function hasActiveAgentProfile(settings: StoredSettings): boolean {
  const { activeAgentProfileId: id } = settings;
  return id !== null && findById(settings, id) !== null;
}

/** The settings as a profile; what was never set is left out, as validators of clients want it. */
function ofSettings({ activeProfile, agentExtras, plain }: StoredSettings): OpenHandsAgentProfile {
  const context = (agentExtras["agent_context"] ?? {}) as JsonObject;
  const suffix = context["system_message_suffix"];
  const { critic_api_key: _, ...verification } = (agentExtras["verification"] ?? {}) as JsonObject;
  const { tools, condenser, tool_concurrency_limit: limit } = agentExtras;
  return withoutUndefined({
    agent_kind: "openhands",
    llm_profile_ref: activeProfile ?? modelOfSettings,
    disabled_skills: [...(plain.disabled_skills ?? [])],
    system_message_suffix: typeof suffix === "string" ? suffix : undefined,
    tools: Array.isArray(tools) ? (tools as JsonObject[]) : undefined,
    condenser: isObject(condenser) ? condenser : undefined,
    verification: Object.keys(verification).length > 0 ? verification : undefined,
    tool_concurrency_limit: typeof limit === "number" ? limit : undefined,
  });
}

/** A profile in short. */
export function showAgentProfile(profile: JsonObject): AgentProfileInfo {
  return {
    id: String(profile["id"]),
    name: String(profile["name"]),
    agent_kind: profile["agent_kind"] === "acp" ? "acp" : "openhands",
    revision: Number(profile["revision"]),
    llm_profile_ref: (profile["llm_profile_ref"] ?? null) as string | null,
    mcp_server_refs: (profile["mcp_server_refs"] ?? null) as string[] | null,
  };
}

function defaultsOf(kind: "openhands" | "acp"): JsonObject {
  const shared = {
    agent_kind: kind,
    mcp_server_refs: null,
  };
  if (kind === "acp") {
    return {
      ...shared,
      acp_model: null,
      acp_session_mode: null,
      acp_command: null,
      acp_args: null,
    };
  }
  return {
    ...shared,
    disabled_skills: [],
    system_message_suffix: null,
    llm_profile_ref: modelOfSettings,
    tool_concurrency_limit: 1,
  };
}

function find({ agentProfiles }: StoredSettings, name: string): JsonObject | null {
  return Object.hasOwn(agentProfiles, name) ? agentProfiles[name]! : null;
}

function reporting(profile: JsonObject): [string, unknown][] {
  return Object.entries(profile).filter(
    ([field, value]) => !Object.hasOwn(saysNothing, field) || saysNothing[field] !== value,
  );
}

function missing(name: string): Fault {
  return new Fault("missing", "profile_not_found", `There is no agent profile ${name}.`);
}
