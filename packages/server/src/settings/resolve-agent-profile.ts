import type { AgentProfileDiagnostics } from "@convoke/protocol";
import { modelOfSettings, showAgentProfile } from "./agent-profiles.ts";
import { profileOf } from "./profiles.ts";
import { resolveConnection } from "./provider-connections.ts";
import { isKeySet, toAgentSettings } from "./settings-views.ts";
import type { JsonObject, StoredSettings } from "./stored-settings.ts";

/** What launching a profile leads to: the settings of its agent, or everything that is in the way. */
export type ResolvedProfile =
  | { readonly ok: true; readonly settings: StoredSettings }
  | { readonly ok: false; readonly errors: readonly string[] };

/** The settings as if the profile's choices were the user's own. */
export function resolveAgentProfile(settings: StoredSettings, profile: JsonObject): ResolvedProfile {
  const { errors, llm, servers } = resolveReferences(settings, profile);
  if (errors.length > 0) return { ok: false, errors };
  if (isAcp(profile)) return { ok: true, settings: acpSettings(settings, profile, servers) };
  if (llm === null) return { ok: false, errors };
  const context = (settings.agentExtras["agent_context"] ?? {}) as JsonObject;
  const skills = (profile["skills"] ?? []) as readonly unknown[];
  const agentContext: JsonObject = {
    ...context,
    ...(profile["system_message_suffix"] ? { system_message_suffix: profile["system_message_suffix"] } : {}),
    ...(skills.length > 0 ? { skills } : {}),
    disabled_skills: profile["disabled_skills"] ?? [],
  };
  const given = ["tools", "condenser", "verification", "enable_sub_agents", "tool_concurrency_limit"];
  const extras = given.filter((field) => profile[field] !== undefined && profile[field] !== null);
  return {
    ok: true,
    settings: {
      ...settings,
      llm,
      mcpServers: servers,
      agentExtras: {
        ...settings.agentExtras,
        ...Object.fromEntries(extras.map((field) => [field, profile[field]])),
        agent_context: agentContext,
      },
    },
  };
}

/** Settings of the user's own model do not count for another agent. */
function acpSettings(
  settings: StoredSettings,
  profile: JsonObject,
  mcpServers: StoredSettings["mcpServers"],
): StoredSettings {
  const suffix = profile["system_message_suffix"];
  const own = Object.entries(profile).filter(([name, value]) => name.startsWith("acp_") && value !== null);
  return {
    ...settings,
    mcpServers,
    agentExtras: {
      agent_kind: "acp",
      ...Object.fromEntries(own),
      ...(suffix ? { agent_context: { system_message_suffix: suffix } } : {}),
    },
  };
}

function isAcp(profile: JsonObject): boolean {
  return profile["agent_kind"] === "acp";
}

/** The same as a report, without secrets. */
export function diagnoseAgentProfile(settings: StoredSettings, profile: JsonObject): AgentProfileDiagnostics {
  const { errors, llm, servers, dangling } = resolveReferences(settings, profile);
  const shown = showAgentProfile(profile);
  const resolved = resolveAgentProfile(settings, profile);
  const keys = Object.keys(servers ?? {});
  const disabled = (profile["disabled_skills"] ?? []) as string[];
  const skills = ((profile["skills"] ?? []) as { name?: unknown }[]).flatMap(({ name }) =>
    typeof name === "string" ? [name] : [],
  );
  return {
    agent_kind: shown.agent_kind,
    valid: errors.length === 0,
    errors,
    llm_profile_ref: shown.llm_profile_ref ?? null,
    llm_profile_resolved: llm !== null,
    llm_api_key_set: llm !== null && isKeySet(llm),
    mcp_server_refs: shown.mcp_server_refs ?? null,
    resolved_mcp_config_keys: keys,
    resolved_mcp_servers: keys,
    dangling_mcp_server_refs: dangling,
    disabled_skills: disabled,
    resolved_skills: skills.filter((name) => !disabled.includes(name)),
    acp_api_key_secret_name: null,
    acp_base_url_secret_name: null,
    acp_file_secret_names: [],
    resolved_settings: resolved.ok ? toAgentSettings(resolved.settings) : null,
  };
}

type References = {
  readonly errors: string[];
  readonly llm: JsonObject | null;
  readonly servers: StoredSettings["mcpServers"];
  readonly dangling: string[];
};

function resolveReferences(settings: StoredSettings, profile: JsonObject): References {
  const errors: string[] = [];
  const llm = isAcp(profile) ? null : resolveModel(settings, profile, errors);
  const wanted = profile["mcp_server_refs"] as readonly string[] | null | undefined;
  const all = settings.mcpServers ?? {};
  const dangling = (wanted ?? []).filter((server) => !Object.hasOwn(all, server));
  for (const server of dangling) errors.push(`There is no MCP server ${server}.`);
  const selected = Object.entries(all).filter(([server]) => wanted?.includes(server) ?? true);
  return { errors, llm, servers: Object.fromEntries(selected), dangling };
}

/** Null, with an error, where the model is not there. */
function resolveModel(settings: StoredSettings, profile: JsonObject, errors: string[]): JsonObject | null {
  const name = profile["llm_profile_ref"];
  const isOwn = typeof name !== "string" || (name === modelOfSettings && profileOf(settings, name) === null);
  const stored = isOwn ? settings.llm : profileOf(settings, name);
  if (stored === null) errors.push(`There is no stored model ${String(name)}.`);
  const llm = stored === null ? null : resolveConnection(settings, stored);
  if (stored !== null && llm === null)
    errors.push("The provider connection of the model is not there any more.");
  return llm;
}
