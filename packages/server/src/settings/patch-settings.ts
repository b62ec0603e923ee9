import type { MCPServerPatch, MCPServerSettings, SettingsPatch } from "@convoke/protocol";
import { Fault, invalidField } from "../lib/fault.ts";
import { activateProfile } from "./profiles.ts";
import { mergeChange, nullRemovesSecrets } from "./secret-fields.ts";
import type { JsonObject, StoredSettings } from "./stored-settings.ts";
import { updateSettings } from "./update-settings.ts";

/** True when a patch names anything at all. */
export function isPatch(patch: SettingsPatch): boolean {
  const { agent_settings_diff: agent, conversation_settings_diff: conversation } = patch;
  return (
    isGiven(agent) ||
    isGiven(conversation) ||
    isGiven(patch.misc_settings_diff) ||
    patch.active_profile !== undefined ||
    patch.active_agent_profile_id !== undefined
  );
}

/**
 * The settings after a change in the form of newer clients: what it does not name is as before, null removes (RFC 7386).
 * Naming a stored model as the active one takes it into the settings, unless the same patch changes the model.
 */
export function patchSettings(stored: StoredSettings, patch: SettingsPatch): StoredSettings {
  const agentChange = nullRemovesSecrets(patch.agent_settings_diff ?? {});
  const isModelRemoved = agentChange["llm"] === null;
  const before = isModelRemoved ? { ...stored, llm: {}, activeProfile: null } : stored;
  let settings = updateSettings(before, {
    agent_settings_diff: agentChange,
    conversation_settings_diff: patch.conversation_settings_diff ?? {},
  });
  // A change of the model is one on top of the stored model that is active, not a choice of another one.
  settings = { ...settings, activeProfile: before.activeProfile };
  const misc = mergeChange(settings.misc, patch.misc_settings_diff ?? {}, ["body", "misc_settings_diff"]);
  settings = { ...settings, misc };
  if (patch.active_profile === null) settings = { ...settings, activeProfile: null };
  else if (patch.active_profile !== undefined) {
    const name = patch.active_profile;
    const activated = activateProfile(settings, name);
    settings = agentChange["llm"] === undefined ? activated : { ...settings, activeProfile: name };
  }
  if (patch.active_agent_profile_id === undefined) return settings;
  return pointToAgentProfile(settings, patch.active_agent_profile_id);
}

function pointToAgentProfile(settings: StoredSettings, id: string | null): StoredSettings {
  const isKnown = Object.values(settings.agentProfiles).some((profile) => profile["id"] === id);
  if (id !== null && !isKnown) {
    throw invalidField(["body", "active_agent_profile_id"], "There is no agent profile with this id.");
  }
  return { ...settings, activeAgentProfileId: id };
}

/** Adds one MCP server. */
export function addServer(stored: StoredSettings, name: string, server: MCPServerSettings): StoredSettings {
  if (Object.hasOwn(stored.mcpServers ?? {}, name)) {
    throw new Fault("conflict", "mcp_server_exists", `There is an MCP server ${name} already.`);
  }
  return changeServer(stored, name, server);
}

/** Changes one MCP server; null removes a field of it. */
export function patchServer(stored: StoredSettings, name: string, patch: MCPServerPatch): StoredSettings {
  requireServer(stored, name);
  return changeServer(stored, name, patch);
}

export function removeServer(stored: StoredSettings, name: string): StoredSettings {
  requireServer(stored, name);
  return changeServer(stored, name, null);
}

function changeServer(stored: StoredSettings, name: string, server: JsonObject | null): StoredSettings {
  const change = { mcp_config: { [name]: server === null ? null : nullRemovesSecrets(server) } };
  try {
    return updateSettings(stored, { agent_settings_diff: change });
  } catch (error) {
    throw error instanceof Fault ? atServer(error) : error;
  }
}

/** The same fault where the body is the server alone. */
function atServer({ kind, code, message, fields }: Fault): Fault {
  const whole = ["body", "agent_settings_diff", "mcp_config"];
  const moved = fields.map((field) => {
    const rest = field.loc.slice(whole.length + 1);
    // What is wrong with the server as a whole is that it has no address.
    return { ...field, loc: ["body", ...(rest.length === 0 ? ["url"] : rest)] };
  });
  return new Fault(kind, code, moved[0]?.msg ?? message, moved);
}

function requireServer(stored: StoredSettings, name: string): void {
  if (Object.hasOwn(stored.mcpServers ?? {}, name)) return;
  throw new Fault("missing", "mcp_server_not_found", `There is no MCP server ${name}.`);
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}
