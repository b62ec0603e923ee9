import type { MetaProfile } from "@convoke/protocol";
import type { JsonObject, StoredConnection, StoredSettings } from "./stored-settings.ts";

/**
 * What the settings page saves, by the names of the wire: without profiles, connections and installations, which have their own
 * history or none, without the tokens of providers, and without what clients keep for themselves.
 */
export function settingsContent(settings: StoredSettings): JsonObject {
  return {
    ...settings.plain,
    llm: settings.llm,
    reviewer: settings.reviewer,
    while_running: settings.whileRunning,
    search_api_key: settings.searchApiKey,
    sandbox_api_key: settings.sandboxApiKey,
    mcp_servers: settings.mcpServers,
    agent_settings: settings.agentExtras,
  };
}

/** The settings with what they were. */
export function restoreSettings(stored: StoredSettings, content: JsonObject): StoredSettings {
  const {
    llm,
    reviewer,
    while_running,
    search_api_key,
    sandbox_api_key,
    mcp_servers,
    agent_settings,
    ...plain
  } = content;
  return {
    ...stored,
    plain: { ...stored.plain, ...plain },
    llm: llm as StoredSettings["llm"],
    reviewer: reviewer as StoredSettings["reviewer"],
    whileRunning: while_running as StoredSettings["whileRunning"],
    searchApiKey: search_api_key as StoredSettings["searchApiKey"],
    sandboxApiKey: sandbox_api_key as StoredSettings["sandboxApiKey"],
    mcpServers: mcp_servers as StoredSettings["mcpServers"],
    agentExtras: agent_settings as StoredSettings["agentExtras"],
  };
}

/** A connection without its times. */
export function connectionContent(connection: StoredConnection): JsonObject {
  const { display_name, provider, base_url, api_key } = connection;
  return { display_name, provider, base_url, api_key };
}

export function restoreConnection(
  stored: StoredSettings,
  id: string,
  content: JsonObject,
  nowSeconds: number,
): StoredSettings {
  const restored = { ...stored.providerConnections[id]!, ...content, updated_at: nowSeconds };
  return { ...stored, providerConnections: { ...stored.providerConnections, [id]: restored } };
}

export function restoreMetaProfile(
  stored: StoredSettings,
  name: string,
  content: JsonObject,
): StoredSettings {
  return { ...stored, metaProfiles: { ...stored.metaProfiles, [name]: content as MetaProfile } };
}
