import type { ProviderTokens, ProviderType, SettingsUpdate } from "@convoke/protocol";
import { invalidField } from "../lib/fault.ts";
import { checkModelAddress, parseModelAddress } from "../models/model-address.ts";
import { checkServers, fromMcpConfig } from "./mcp-servers.ts";
import { changeSecret, mergeChange, onlyChanges, refuseMasks } from "./secret-fields.ts";
import { toSettings } from "./settings-views.ts";
import {
  defaultSettings,
  type JsonObject,
  type PlainSettings,
  type StoredSettings,
  type StoredToken,
} from "./stored-settings.ts";
import { isObject } from "../lib/json-object.ts";

/** The settings after a change: what it does not name is as before (P33). Throws a fault that names the field. */
export function updateSettings(stored: StoredSettings, update: SettingsUpdate): StoredSettings {
  const shown = toSettings(stored);
  const agentChange = onlyChanges(
    { ...update.agent_settings, ...update.agent_settings_diff },
    shown.agent_settings,
  );
  const conversationChange = onlyChanges(
    { ...update.conversation_settings, ...update.conversation_settings_diff },
    shown.conversation_settings,
  );
  let settings = changeFlat(stored, update);
  if (Object.keys(conversationChange).length > 0) settings = changeConversation(settings, conversationChange);
  if (Object.keys(agentChange).length > 0) settings = changeAgent(settings, agentChange);
  const isSameModel = JSON.stringify(settings.llm) === JSON.stringify(stored.llm);
  return isSameModel ? settings : { ...settings, activeProfile: null };
}

/** The tokens after a change: providers that it does not name keep theirs. */
export function updateTokens(stored: StoredSettings, update: ProviderTokens): StoredSettings {
  const providerTokens: Partial<Record<ProviderType, StoredToken>> = { ...stored.providerTokens };
  for (const [provider, change] of Object.entries(update) as [ProviderType, ProviderTokens[ProviderType]][]) {
    if (change === undefined) continue;
    const before = stored.providerTokens[provider];
    const token = change.token === "" ? null : (change.token ?? null);
    providerTokens[provider] = {
      token: changeSecret(before?.token ?? null, token),
      user_id: change.user_id === undefined ? (before?.user_id ?? null) : change.user_id,
      host: change.host === undefined ? (before?.host ?? null) : change.host,
    };
  }
  return { ...stored, providerTokens };
}

function changeFlat(stored: StoredSettings, update: SettingsUpdate): StoredSettings {
  const plain: Record<string, unknown> = { ...stored.plain };
  for (const name of Object.keys(defaultSettings.plain) as (keyof PlainSettings)[]) {
    const value = update[name];
    // Null does not take a consent back: older clients send it for "not asked".
    if (value === undefined || (value === null && name === "user_consents_to_analytics")) continue;
    refuseMasks(value, ["body", name]);
    plain[name] = value;
  }
  const changed: StoredSettings = {
    ...stored,
    plain: plain as PlainSettings,
    llm: changeLlm(stored.llm, update),
    searchApiKey: changeSecret(stored.searchApiKey, update.search_api_key),
    sandboxApiKey: changeSecret(stored.sandboxApiKey, update.sandbox_api_key),
    mcpServers: changeMcp(stored.mcpServers, update.mcp_config),
  };
  const tokens = update.secrets_store?.provider_tokens;
  return tokens === undefined ? changed : updateTokens(changed, tokens);
}

function changeMcp(
  stored: StoredSettings["mcpServers"],
  update: SettingsUpdate["mcp_config"],
): StoredSettings["mcpServers"] {
  if (update === undefined) return stored;
  if (update === null) return null;
  const servers = fromMcpConfig(update, stored);
  // Who sends back what was read changes nothing.
  return stored === null && Object.keys(servers).length === 0 ? null : servers;
}

/** Null means "as it is", an empty text "none". */
function changeLlm(llm: JsonObject, update: SettingsUpdate): JsonObject {
  const change: Record<string, unknown> = {};
  if (typeof update.llm_model === "string") change["model"] = update.llm_model.trim() || null;
  if (typeof update.llm_base_url === "string") change["base_url"] = update.llm_base_url.trim() || null;
  if (typeof update.llm_base_url === "string" && change["base_url"] !== null)
    parseModelAddress(update.llm_base_url, ["body", "llm_base_url"]);
  if (typeof update.llm_api_key === "string") change["api_key"] = update.llm_api_key.trim();
  return mergeChange(llm, change, ["body", "llm"]);
}

function changeConversation(stored: StoredSettings, change: JsonObject): StoredSettings {
  let settings = stored;
  const plain: Record<string, unknown> = { ...stored.plain };
  for (const [name, value] of Object.entries(change)) {
    const loc = ["body", "conversation_settings_diff", name];
    if (name === "schema_version") continue;
    if (name === "reviewer") {
      settings = { ...settings, reviewer: readReviewer(value, stored, loc) };
      continue;
    }
    if (name === "while_running") {
      settings = { ...settings, whileRunning: readWhileRunning(value, loc) };
      continue;
    }
    if (!Object.hasOwn(conversationFields, name))
      throw invalidField(loc, "This setting is not known.", "extra_forbidden");
    const { isValid, msg } = conversationFields[name as keyof typeof conversationFields];
    if (!isValid(value)) throw invalidField(loc, msg);
    plain[name] = value;
  }
  return { ...settings, plain: plain as PlainSettings };
}

function readWhileRunning(value: unknown, loc: string[]): StoredSettings["whileRunning"] {
  if (value === null) return null;
  const mode = modes.find((one) => one === value);
  if (mode === undefined) throw invalidField(loc, `Use one of: ${modes.join(", ")}; or null for steer.`);
  return mode;
}

const modes = ["queue", "steer", "interrupt", "reject", "replace"] as const;

/** A stored model and the highest risk that it may answer about; null for none. */
function readReviewer(value: unknown, stored: StoredSettings, loc: string[]): StoredSettings["reviewer"] {
  if (value === null) return null;
  if (!isObject(value) || Object.keys(value).some((name) => name !== "llm" && name !== "up_to"))
    throw invalidField(loc, "Send llm, up_to or not, and nothing else; or null for no reviewer.");
  const { llm, up_to: upTo } = value;
  if (typeof llm !== "string" || !Object.hasOwn(stored.profiles, llm))
    throw invalidField([...loc, "llm"], "There is no model profile with this name.");
  if (upTo === undefined) return { llm };
  const risk = reviewedRisks.find((one) => one === upTo);
  if (risk === undefined) throw invalidField([...loc, "up_to"], "Use one of: LOW, MEDIUM, HIGH.");
  return { llm, up_to: risk };
}

const reviewedRisks = ["LOW", "MEDIUM", "HIGH"] as const;

const conversationFields = {
  max_iterations: {
    isValid: (value: unknown) => Number.isInteger(value) && Number(value) >= 1,
    msg: "Send a whole number from 1 on.",
  },
  confirmation_mode: { isValid: (value: unknown) => typeof value === "boolean", msg: "Send true or false." },
  security_analyzer: {
    isValid: (value: unknown) => value === null || value === "llm" || value === "none",
    msg: "Use one of: llm, none.",
  },
};

function changeAgent(stored: StoredSettings, change: JsonObject): StoredSettings {
  const loc = ["body", "agent_settings_diff"];
  const { agent, llm, mcp_config: mcp, condenser, schema_version: _, agent_kind: kind, ...extras } = change;
  if (kind !== undefined && kind !== null && !agentKinds.has(kind)) {
    throw invalidField([...loc, "agent_kind"], "Use one of: openhands, acp.");
  }
  if (isObject(llm) && "model" in llm && !isText(llm["model"]))
    throw invalidField([...loc, "llm", "model"], "Send the name of a model, or leave the field out.");
  let settings = stored;
  if (typeof agent === "string" || agent === null) settings = withPlain(settings, { agent });
  if (isObject(llm)) checkModelAddress(llm, [...loc, "llm"]);
  if (isObject(llm)) settings = { ...settings, llm: mergeChange(settings.llm, llm, [...loc, "llm"]) };
  if (isObject(condenser)) settings = changeCondenser(settings, condenser, loc);
  if (mcp !== undefined)
    settings = { ...settings, mcpServers: mergeServers(stored, mcp, [...loc, "mcp_config"]) };
  // Stored as it is, so that clients read it back; a conversation with it is refused.
  const kindChange = kind === "acp" ? { agent_kind: kind } : kind === "openhands" ? { agent_kind: null } : {};
  return { ...settings, agentExtras: mergeChange(settings.agentExtras, { ...extras, ...kindChange }, loc) };
}

const agentKinds = new Set<unknown>(["openhands", "acp"]);

function isText(value: unknown): boolean {
  return typeof value === "string" && value.trim() !== "";
}

function changeCondenser(stored: StoredSettings, condenser: JsonObject, loc: string[]): StoredSettings {
  const { enabled, max_size: size, ...rest } = condenser;
  const change: { -readonly [K in keyof PlainSettings]?: PlainSettings[K] } = {};
  if (typeof enabled === "boolean") change.enable_default_condenser = enabled;
  if (size === null) change.condenser_max_size = null;
  if (typeof size === "number") {
    if (size < 20)
      throw invalidField([...loc, "condenser", "max_size"], "Send a number that is at least 20.");
    change.condenser_max_size = size;
  }
  const settings = withPlain(stored, change);
  return Object.keys(rest).length === 0
    ? settings
    : { ...settings, agentExtras: mergeChange(settings.agentExtras, { condenser: rest }, loc) };
}

/** Newer clients send the map itself, or the map below `mcpServers`; null removes a server, or all of them. */
function mergeServers(stored: StoredSettings, change: unknown, loc: string[]): StoredSettings["mcpServers"] {
  if (change === null) return null;
  const servers = isObject(change) && isObject(change["mcpServers"]) ? change["mcpServers"] : change;
  if (!isObject(servers)) throw invalidField(loc, "Send the servers as an object, each under its name.");
  for (const [name, server] of Object.entries(servers)) {
    if (server !== null && !isObject(server)) throw invalidField([...loc, name], "Send an object, or null.");
  }
  const merged = mergeChange(stored.mcpServers ?? {}, servers, loc) as Readonly<Record<string, JsonObject>>;
  checkServers(merged, loc);
  return merged;
}

function withPlain(stored: StoredSettings, change: Partial<PlainSettings>): StoredSettings {
  return { ...stored, plain: { ...stored.plain, ...change } };
}
