import { Type, type Static } from "typebox";
import { AgentSettingsChange, LLMChange } from "../agent/llm-change.ts";
import { secretBindingFields } from "../extensions/secret-extensions.ts";
import {
  anyObject,
  choice,
  closedObject,
  flag,
  list,
  mapOf,
  object,
  orAbsent,
  orNull,
  ref,
} from "../schema.ts";

/** Changes to settings in the form of newer clients: absent fields stay, objects are merged, null removes. */
export const SettingsPatch = object("SettingsPatch", {
  agent_settings_diff: orAbsent(ref(AgentSettingsChange)),
  conversation_settings_diff: orAbsent(anyObject()),
  misc_settings_diff: orAbsent(anyObject()),
  active_profile: orAbsent(Type.String({ pattern: "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$" })),
  active_agent_profile_id: orAbsent(Type.String({ format: "uuid" })),
});
export type SettingsPatch = Static<typeof SettingsPatch>;

const transport = choice(["stdio", "http", "streamable-http", "sse"]);
const text = orAbsent(Type.String());
const address = orAbsent(Type.String({ minLength: 1 }));
const serverFields = {
  url: address,
  transport: orAbsent(transport),
  command: address,
  args: orAbsent(Type.Array(Type.String())),
  cwd: text,
  description: text,
  icon: text,
  timeout: orAbsent(Type.Number({ minimum: 0 })),
  sse_read_timeout: orAbsent(Type.Number({ minimum: 0 })),
  keep_alive: orAbsent(Type.Boolean()),
  auth: orAbsent(anyObject({ description: "`strategy` says which kind of credential it is." })),
};

/** One MCP server of the settings; variables and headers are secrets. */
export const MCPServerSettings = closedObject("MCPServerSettings", {
  ...serverFields,
  env: orAbsent(mapOf(Type.String({ format: "password", writeOnly: true }))),
  headers: orAbsent(mapOf(Type.String({ format: "password", writeOnly: true }))),
  enabled: flag(true),
});
export type MCPServerSettings = Static<typeof MCPServerSettings>;

const secretEntry = Type.Union([Type.String({ format: "password", writeOnly: true }), Type.Null()]);

/** Changes to one MCP server; null removes. */
export const MCPServerPatch = closedObject("MCPServerPatch", {
  ...serverFields,
  env: orAbsent(mapOf(secretEntry)),
  headers: orAbsent(mapOf(secretEntry)),
  enabled: orAbsent(Type.Boolean()),
});
export type MCPServerPatch = Static<typeof MCPServerPatch>;

/** A secret in a list. */
export const SecretItemResponse = object("SecretItemResponse", {
  name: Type.String(),
  description: orNull(Type.String()),
  ...secretBindingFields,
});
export type SecretItemResponse = Static<typeof SecretItemResponse>;

/** All secrets by name. */
export const SecretsListResponse = object("SecretsListResponse", {
  secrets: Type.Array(ref(SecretItemResponse)),
});
export type SecretsListResponse = Static<typeof SecretsListResponse>;

/** A secret to store; replaces one with the same name. */
export const SecretCreateRequest = object("SecretCreateRequest", {
  name: Type.String({ pattern: "^[a-zA-Z][a-zA-Z0-9_]{0,63}$" }),
  value: Type.String({ format: "password", writeOnly: true, maxLength: 65_536 }),
  description: orAbsent(Type.String({ maxLength: 4_096 })),
  ...secretBindingFields,
});
export type SecretCreateRequest = Static<typeof SecretCreateRequest>;

/** A model to test. */
export const ValidateProfileRequest = object("ValidateProfileRequest", { llm: ref(LLMChange) });
export type ValidateProfileRequest = Static<typeof ValidateProfileRequest>;

/** The reason why a model cannot be used; `type` is the code that a failed run would have. */
export const ValidateProfileError = object("ValidateProfileError", {
  type: Type.String(),
  message: Type.String(),
});
export type ValidateProfileError = Static<typeof ValidateProfileError>;

/** The result of a test of a model. */
export const ValidateProfileResponse = object("ValidateProfileResponse", {
  valid: Type.Boolean(),
  error: orNull(ref(ValidateProfileError)),
});
export type ValidateProfileResponse = Static<typeof ValidateProfileResponse>;

/** Summary of a stored model. `provider_connection_broken`: the connection that it names no longer exists. */
export const LLMProfileInfo = object("LLMProfileInfo", {
  name: Type.String(),
  model: orNull(Type.String()),
  base_url: orNull(Type.String()),
  provider_connection_id: orNull(Type.String()),
  provider_connection_broken: flag(false),
  api_key_set: flag(false),
});
export type LLMProfileInfo = Static<typeof LLMProfileInfo>;

/** All stored models. */
export const LLMProfileList = object("LLMProfileList", {
  profiles: list(ref(LLMProfileInfo)),
  active_profile: orNull(Type.String()),
});
export type LLMProfileList = Static<typeof LLMProfileList>;

/** A stored model was made the one of the settings. */
export const LLMProfileActivated = object("LLMProfileActivated", {
  name: Type.String(),
  message: Type.String(),
  llm_applied: flag(true),
});
export type LLMProfileActivated = Static<typeof LLMProfileActivated>;
