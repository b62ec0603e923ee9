import type { Settings, UserInfo, V1Settings } from "@convoke/protocol";
import { toMcpConfig } from "./mcp-servers.ts";
import { resolveConnection } from "./provider-connections.ts";
import { hideSecrets, hideUrl, secretMask, type ShownAs } from "./secret-fields.ts";
import type { JsonObject, StoredSettings } from "./stored-settings.ts";

/**
 * The settings as the contract has them (2.5), and what newer clients look for beside them; only in the part of newer clients
 * can secrets be shown as anything but their mask.
 */
export function toSettings(stored: StoredSettings, shownAs: ShownAs = secretMask): Settings {
  const { plain } = stored;
  const llm = ownModel(stored);
  return {
    language: plain.language,
    agent: plain.agent,
    max_iterations: plain.max_iterations,
    security_analyzer: plain.security_analyzer,
    confirmation_mode: plain.confirmation_mode,
    llm_model: textOrNull(llm["model"]),
    llm_api_key: null,
    llm_base_url: shownAddress(llm["base_url"]),
    remote_runtime_resource_factor: plain.remote_runtime_resource_factor,
    secrets_store: { provider_tokens: {}, custom_secrets: {} },
    enable_default_condenser: plain.enable_default_condenser,
    enable_sound_notifications: plain.enable_sound_notifications,
    enable_proactive_conversation_starters: plain.enable_proactive_conversation_starters,
    enable_solvability_analysis: plain.enable_solvability_analysis,
    user_consents_to_analytics: plain.user_consents_to_analytics,
    sandbox_base_container_image: plain.sandbox_base_container_image,
    sandbox_runtime_container_image: plain.sandbox_runtime_container_image,
    mcp_config: toMcpConfig(stored.mcpServers),
    search_api_key: null,
    sandbox_api_key: null,
    max_budget_per_task: plain.max_budget_per_task,
    email: plain.email,
    email_verified: plain.email_verified,
    git_user_name: plain.git_user_name,
    git_user_email: plain.git_user_email,
    provider_tokens_set: tokensSet(stored),
    llm_api_key_set: isKeySet(llm),
    search_api_key_set: stored.searchApiKey !== null,
    agent_settings: toAgentSettings(stored, shownAs),
    conversation_settings: toConversationSettings(stored),
    llm_api_key_is_set: isKeySet(llm),
    active_profile: stored.activeProfile,
    active_agent_profile_id: stored.activeAgentProfileId,
    misc_settings: { ...stored.misc },
  };
}

/** The settings as newer clients have them. */
export function toV1Settings(stored: StoredSettings): V1Settings {
  return {
    ...v1Members(stored),
    provider_tokens_set: tokensSet(stored),
    llm_api_key_set: isKeySet(ownModel(stored)),
    search_api_key_set: stored.searchApiKey !== null,
  };
}

/** The model of the settings, with what its provider connection lends it. */
function ownModel(stored: StoredSettings): JsonObject {
  return resolveConnection(stored, stored.llm) ?? stored.llm;
}

/** A model as newer clients read it; nobody logs in with a subscription here, so it is what the client says. */
export function showModel(llm: JsonObject, shownAs: ShownAs): JsonObject {
  return { is_subscription: false, ...hideSecrets(llm, shownAs) };
}

/** The caller as newer clients have it. */
export function toUserInfo(stored: StoredSettings, userId: string): UserInfo {
  return { ...v1Members(stored), id: userId };
}

/** True when a model has a key of its own. */
export function isKeySet(llm: JsonObject): boolean {
  return textOrNull(llm["api_key"]) !== null;
}

export function textOrNull(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

function v1Members(stored: StoredSettings): Omit<UserInfo, "id"> {
  const { plain } = stored;
  return {
    language: plain.language,
    remote_runtime_resource_factor: plain.remote_runtime_resource_factor,
    secrets_store: { provider_tokens: {}, custom_secrets: {} },
    enable_sound_notifications: plain.enable_sound_notifications,
    enable_proactive_conversation_starters: plain.enable_proactive_conversation_starters,
    user_consents_to_analytics: plain.user_consents_to_analytics,
    sandbox_base_container_image: plain.sandbox_base_container_image,
    sandbox_runtime_container_image: plain.sandbox_runtime_container_image,
    disabled_skills: plain.disabled_skills === null ? null : [...plain.disabled_skills],
    search_api_key: null,
    sandbox_api_key: null,
    max_budget_per_task: plain.max_budget_per_task,
    email: plain.email,
    email_verified: plain.email_verified,
    git_user_name: plain.git_user_name,
    git_user_email: plain.git_user_email,
    title_llm_profile: plain.title_llm_profile,
    git_full_clone: plain.git_full_clone,
    v1_enabled: plain.v1_enabled,
    agent_settings: toAgentSettings(stored),
    conversation_settings: toConversationSettings(stored),
    sandbox_grouping_strategy: plain.sandbox_grouping_strategy,
    default_sandbox_spec_id: plain.default_sandbox_spec_id,
    llm_profiles: {
      profiles: Object.fromEntries(
        Object.entries(stored.profiles).map(([name, llm]) => [name, hideSecrets(llm, null)]),
      ),
      active: stored.activeProfile,
    },
    registered_marketplaces: [...plain.registered_marketplaces],
    inherited_marketplaces: [],
  };
}

/** The agent settings of newer clients, whose models take no null for an agent's name or a condenser's size. */
export function toAgentSettings(stored: StoredSettings, shownAs: ShownAs = secretMask): JsonObject {
  const { plain, mcpServers, agentExtras } = stored;
  return {
    ...hideSecrets(agentExtras, shownAs),
    schema_version: 5,
    agent_kind: agentExtras["agent_kind"] ?? "openhands",
    ...(plain.agent === null ? {} : { agent: plain.agent }),
    llm: { model: null, base_url: null, api_key: null, ...showModel(ownModel(stored), shownAs) },
    mcp_config: hideSecrets(shownServers(mcpServers ?? {}), shownAs),
    condenser: {
      ...hideSecrets((agentExtras["condenser"] ?? {}) as JsonObject, shownAs),
      enabled: plain.enable_default_condenser,
      ...(plain.condenser_max_size === null ? {} : { max_size: plain.condenser_max_size }),
    },
  };
}

/** Whether a server is on is always present: clients read the field without a check. */
function shownServers(servers: NonNullable<StoredSettings["mcpServers"]>): JsonObject {
  return Object.fromEntries(
    Object.entries(servers).map(([name, server]) => [
      name,
      { ...server, enabled: server["enabled"] ?? true },
    ]),
  );
}

function toConversationSettings({
  plain,
  reviewer,
  whileRunning,
}: StoredSettings): V1Settings["conversation_settings"] {
  const analyzer = plain.security_analyzer ?? "llm";
  return {
    schema_version: 1,
    max_iterations: plain.max_iterations ?? 500,
    confirmation_mode: plain.confirmation_mode ?? false,
    security_analyzer: analyzer === "llm" || analyzer === "none" ? analyzer : null,
    ...(reviewer === null ? {} : { reviewer }),
    ...(whileRunning === null ? {} : { while_running: whileRunning }),
  };
}

function tokensSet({ providerTokens }: StoredSettings): Record<string, string | null> {
  const set = Object.entries(providerTokens).filter(
    ([, { token, user_id: id }]) => token !== null || id !== null,
  );
  return Object.fromEntries(set.map(([provider, { host }]) => [provider, host]));
}

/** The address of a model without what proves who asks. */
export function shownAddress(value: unknown): string | null {
  const text = textOrNull(value);
  return text === null ? null : hideUrl(text);
}
