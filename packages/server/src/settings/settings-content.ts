import type { MetaProfile } from "@convoke/protocol";
import type { JsonObject, StoredConnection, StoredSettings } from "./stored-settings.ts";

/** What the settings page saves beside the plain values, by the names of the wire. */
const parts = {
  llm: "llm",
  reviewer: "reviewer",
  while_running: "whileRunning",
  search_api_key: "searchApiKey",
  sandbox_api_key: "sandboxApiKey",
  mcp_servers: "mcpServers",
  agent_settings: "agentExtras",
} as const satisfies Readonly<Record<string, keyof StoredSettings>>;

/**
 * What the settings page saves, by the names of the wire: without profiles, connections and installations, which have their own
 * history or none, without the tokens of providers, and without what clients keep for themselves.
 */
export function settingsContent(settings: StoredSettings): JsonObject {
  const named = Object.entries(parts).map(([name, part]) => [name, settings[part]]);
  return { ...settings.plain, ...(Object.fromEntries(named) as JsonObject) };
}

/** The settings with what they were. */
export function restoreSettings(stored: StoredSettings, content: JsonObject): StoredSettings {
  const plain = Object.entries(content).filter(([name]) => !Object.hasOwn(parts, name));
  const restored = Object.entries(parts).map(([name, part]) => [part, content[name]]);
  return {
    ...stored,
    plain: { ...stored.plain, ...Object.fromEntries(plain) },
    ...(Object.fromEntries(restored) as Pick<StoredSettings, (typeof parts)[keyof typeof parts]>),
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
