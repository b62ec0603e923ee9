import { ReviewerPolicy } from "../conversation/approval-policy.ts";
import { WhileRunning } from "../conversation/while-running.ts";
import { Type, type Static } from "typebox";
import { AgentSettingsChange } from "../agent/llm-change.ts";
import { anyObject, choice, mapOf, nullable, object, orAbsent, ref } from "../schema.ts";
import { MCPConfig, MCPConfigUpdate } from "./mcp-config.ts";
import { ProviderTokens } from "./provider-token.ts";

const shownSecret = nullable(Type.String({ format: "password", writeOnly: true }), {
  description: "Always null: secrets are never shown.",
});
const text = nullable(Type.String());
const yesOrNo = nullable(Type.Boolean());
const number = nullable(Type.Integer());

/** Secrets of a user, emptied in every reply. */
export const UserSecrets = object("UserSecrets", {
  provider_tokens: anyObject(),
  custom_secrets: anyObject(),
});
export type UserSecrets = Static<typeof UserSecrets>;

/** The settings of a user: the contract's fields, then those of newer clients on the same path. */
export const Settings = object("Settings", {
  language: text,
  agent: text,
  max_iterations: number,
  security_analyzer: text,
  confirmation_mode: yesOrNo,
  llm_model: text,
  llm_api_key: shownSecret,
  llm_base_url: text,
  remote_runtime_resource_factor: number,
  secrets_store: ref(UserSecrets),
  enable_default_condenser: Type.Boolean({ default: true }),
  enable_sound_notifications: Type.Boolean({ default: false }),
  enable_proactive_conversation_starters: Type.Boolean({ default: true }),
  enable_solvability_analysis: Type.Boolean({ default: true }),
  user_consents_to_analytics: yesOrNo,
  sandbox_base_container_image: text,
  sandbox_runtime_container_image: text,
  mcp_config: ref(MCPConfig),
  search_api_key: shownSecret,
  sandbox_api_key: shownSecret,
  max_budget_per_task: nullable(Type.Number()),
  email: text,
  email_verified: yesOrNo,
  git_user_name: text,
  git_user_email: text,
  provider_tokens_set: mapOf(text),
  llm_api_key_set: Type.Boolean(),
  search_api_key_set: Type.Boolean({ default: false }),
  agent_settings: anyObject(),
  conversation_settings: anyObject(),
  llm_api_key_is_set: Type.Boolean(),
  active_profile: text,
  active_agent_profile_id: text,
  misc_settings: anyObject(),
});
export type Settings = Static<typeof Settings>;

/** How new conversations are distributed to sandboxes. */
export const SandboxGroupingStrategy = choice(
  ["NO_GROUPING", "GROUP_BY_NEWEST", "LEAST_RECENTLY_USED", "FEWEST_CONVERSATIONS", "ADD_TO_ANY"],
  { $id: "SandboxGroupingStrategy" },
);
export type SandboxGroupingStrategy = Static<typeof SandboxGroupingStrategy>;

/** Defaults for conversations. */
export const ConversationSettings = object("ConversationSettings", {
  schema_version: Type.Integer({ minimum: 1, default: 1 }),
  max_iterations: Type.Integer({ minimum: 1, default: 500 }),
  confirmation_mode: Type.Boolean({ default: false }),
  security_analyzer: nullable(choice(["llm", "none"]), { default: "llm" }),
  /** Who is asked before a person; absent for nobody. */
  reviewer: Type.Optional(ref(ReviewerPolicy)),
  /** What a message does while the agent works; absent for steer. */
  while_running: Type.Optional(ref(WhileRunning)),
});
export type ConversationSettings = Static<typeof ConversationSettings>;

/** Stored models by name, without their secrets. */
export const LLMProfiles = object("LLMProfiles", { profiles: anyObject(), active: text });
export type LLMProfiles = Static<typeof LLMProfiles>;

/** Sources of skills and plugins. */
export const MarketplaceRegistration = object("MarketplaceRegistration", {
  name: Type.String(),
  source: Type.String(),
  ref: orAbsent(Type.String()),
  repo_path: orAbsent(Type.String()),
  auto_load: Type.Optional(Type.Boolean()),
  scope: orAbsent(choice(["instance", "org", "personal"])),
});
export type MarketplaceRegistration = Static<typeof MarketplaceRegistration>;

const v1Members = {
  language: text,
  remote_runtime_resource_factor: number,
  secrets_store: anyObject(),
  enable_sound_notifications: Type.Boolean({ default: false }),
  enable_proactive_conversation_starters: Type.Boolean({ default: true }),
  user_consents_to_analytics: yesOrNo,
  sandbox_base_container_image: text,
  sandbox_runtime_container_image: text,
  disabled_skills: nullable(Type.Array(Type.String())),
  search_api_key: shownSecret,
  sandbox_api_key: shownSecret,
  max_budget_per_task: nullable(Type.Number()),
  email: text,
  email_verified: yesOrNo,
  git_user_name: text,
  git_user_email: text,
  title_llm_profile: text,
  git_full_clone: Type.Boolean({ default: false }),
  v1_enabled: Type.Boolean({ default: true }),
  agent_settings: anyObject(),
  conversation_settings: ref(ConversationSettings),
  sandbox_grouping_strategy: ref(SandboxGroupingStrategy, { default: "NO_GROUPING" }),
  default_sandbox_spec_id: text,
  llm_profiles: ref(LLMProfiles),
  registered_marketplaces: Type.Array(ref(MarketplaceRegistration)),
  inherited_marketplaces: Type.Array(ref(MarketplaceRegistration)),
};

/** The same settings as newer clients read them. */
export const V1Settings = object("V1Settings", {
  ...v1Members,
  provider_tokens_set: mapOf(text),
  llm_api_key_set: Type.Boolean(),
  search_api_key_set: Type.Boolean({ default: false }),
});
export type V1Settings = Static<typeof V1Settings>;

/** The caller, with the settings. */
export const UserInfo = object("UserInfo", { ...v1Members, id: Type.String() });
export type UserInfo = Static<typeof UserInfo>;

const newSecret = orAbsent(Type.String({ format: "password", writeOnly: true, maxLength: 65_536 }));
const newText = orAbsent(Type.String());
const newFlag = Type.Optional(Type.Boolean());

/** Provider tokens to change; custom secrets have separate routes. */
export const UserSecretsUpdate = object("UserSecretsUpdate", {
  provider_tokens: Type.Optional(ref(ProviderTokens)),
  custom_secrets: Type.Optional(anyObject({ maxProperties: 0 })),
});
export type UserSecretsUpdate = Static<typeof UserSecretsUpdate>;

/**
 * Changes to settings; absent fields stay. For secrets, the model, its address and the consent null means absent too, as older
 * clients send it; an empty text removes them.
 */
export const SettingsUpdate = object("SettingsUpdate", {
  language: newText,
  agent: newText,
  max_iterations: orAbsent(Type.Integer({ minimum: 1 })),
  security_analyzer: newText,
  confirmation_mode: orAbsent(Type.Boolean()),
  llm_model: newText,
  llm_api_key: newSecret,
  llm_base_url: newText,
  remote_runtime_resource_factor: orAbsent(Type.Integer({ minimum: 1 })),
  secrets_store: Type.Optional(ref(UserSecretsUpdate)),
  enable_default_condenser: newFlag,
  enable_sound_notifications: newFlag,
  enable_proactive_conversation_starters: newFlag,
  enable_solvability_analysis: newFlag,
  user_consents_to_analytics: orAbsent(Type.Boolean()),
  sandbox_base_container_image: newText,
  sandbox_runtime_container_image: newText,
  mcp_config: orAbsent(ref(MCPConfigUpdate)),
  search_api_key: newSecret,
  sandbox_api_key: newSecret,
  max_budget_per_task: orAbsent(Type.Number({ minimum: 0 })),
  email: newText,
  email_verified: orAbsent(Type.Boolean()),
  git_user_name: newText,
  git_user_email: newText,
  condenser_max_size: orAbsent(Type.Integer({ minimum: 20 })),
  disabled_skills: orAbsent(Type.Array(Type.String())),
  title_llm_profile: newText,
  git_full_clone: newFlag,
  v1_enabled: newFlag,
  sandbox_grouping_strategy: Type.Optional(ref(SandboxGroupingStrategy)),
  default_sandbox_spec_id: newText,
  registered_marketplaces: Type.Optional(Type.Array(ref(MarketplaceRegistration))),
  agent_settings: orAbsent(ref(AgentSettingsChange), { description: "The same as agent_settings_diff." }),
  agent_settings_diff: orAbsent(ref(AgentSettingsChange)),
  conversation_settings: orAbsent(anyObject({ description: "The same as conversation_settings_diff." })),
  conversation_settings_diff: orAbsent(anyObject()),
});
export type SettingsUpdate = Static<typeof SettingsUpdate>;

/** Stored; running conversations are not affected. */
export const SettingsStored = object("SettingsStored", {
  message: Type.String(),
  applies_from: Type.Literal("new conversations"),
  version: Type.Integer({ description: "Of the stored settings; grows with each change." }),
});
export type SettingsStored = Static<typeof SettingsStored>;
