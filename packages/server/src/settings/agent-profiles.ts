import { randomUUID } from "node:crypto";
import type { ACPAgentProfile, AgentProfileInfo, OpenHandsAgentProfile } from "@convoke/protocol";
import { Fault } from "../lib/fault.ts";
import { refuseMasks } from "./secret-fields.ts";
import type { JsonObject, StoredSettings } from "./stored-settings.ts";

const mostProfiles = 50;
/** What is ours in a profile, whatever a client sends. */
const ownFields = new Set(["id", "name", "revision", "schema_version"]);

/** Stores an agent profile under a name; one of this name is replaced and keeps its id. */
export function saveAgentProfile(
  settings: StoredSettings,
  name: string,
  given: OpenHandsAgentProfile | ACPAgentProfile,
): StoredSettings {
  const before = find(settings, name);
  if (before === null && Object.keys(settings.agentProfiles).length >= mostProfiles) {
    throw new Fault("conflict", "too_many_profiles", `A user has at most ${mostProfiles} agent profiles.`);
  }
  refuseMasks(given, ["body"]);
  const fields = Object.entries(given).filter(([field]) => !ownFields.has(field));
  const profile = {
    ...defaultsOf(given.agent_kind ?? "openhands"),
    ...Object.fromEntries(fields),
    schema_version: 1,
    id: before?.["id"] ?? randomUUID(),
    name,
    revision: Number(before?.["revision"] ?? 0) + 1,
  };
  return { ...settings, agentProfiles: { ...settings.agentProfiles, [name]: profile } };
}

/** The settings without it, whether it was there or not. */
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

export function requireAgentProfile(settings: StoredSettings, name: string): JsonObject {
  const profile = find(settings, name);
  if (profile === null) throw missing(name);
  return profile;
}

/** Null when there is none. */
export function findById({ agentProfiles }: StoredSettings, id: string): JsonObject | null {
  return Object.values(agentProfiles).find((profile) => profile["id"] === id) ?? null;
}

/**
 * A user without agent profiles gets one that is the settings as they are, and it is the active one: newer clients
 * take for granted that there is one. Source: reference, agent-server 16.4.
 */
export function withFirstAgentProfile(settings: StoredSettings): StoredSettings {
  if (Object.keys(settings.agentProfiles).length > 0) return settings;
  const first = saveAgentProfile(settings, "default", { agent_kind: "openhands" });
  return activateAgentProfile(first, String(first.agentProfiles["default"]!["id"]));
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
    disabled_skills: [],
    system_message_suffix: null,
  };
  if (kind === "acp") {
    return {
      ...shared,
      acp_model: null,
      acp_session_mode: null,
      acp_command: null,
      acp_args: null,
      skills: [],
    };
  }
  return {
    ...shared,
    llm_profile_ref: null,
    skills: [],
    condenser: null,
    verification: null,
    enable_sub_agents: false,
    tool_concurrency_limit: 1,
  };
}

function find({ agentProfiles }: StoredSettings, name: string): JsonObject | null {
  return Object.hasOwn(agentProfiles, name) ? agentProfiles[name]! : null;
}

function missing(name: string): Fault {
  return new Fault("missing", "profile_not_found", `There is no agent profile ${name}.`);
}
