import { Type, type Static } from "typebox";
import { anyObject, flag, list, object, orAbsent, orNull, ref } from "../schema.ts";

/** Source of an installation: a directory on the workspace's machine. */
const installFields = {
  source: Type.String({ minLength: 1, maxLength: 4_096 }),
  ref: orAbsent(Type.String({ maxLength: 256 })),
  repo_path: orAbsent(Type.String({ maxLength: 4_096 })),
  force: flag(false),
};

const installedFields = {
  name: Type.String(),
  version: Type.Optional(Type.String({ default: "" })),
  description: Type.Optional(Type.String({ default: "" })),
  enabled: flag(true),
  source: Type.String(),
  resolved_ref: orNull(Type.String()),
  repo_path: orNull(Type.String()),
  installed_at: Type.String(),
  install_path: Type.String(),
};

export const InstallSkillRequest = object("InstallSkillRequest", installFields);
export type InstallSkillRequest = Static<typeof InstallSkillRequest>;

/** A skill that a user installed. */
export const InstalledSkillResponse = object("InstalledSkillResponse", installedFields);
export type InstalledSkillResponse = Static<typeof InstalledSkillResponse>;

export const InstalledSkillsListResponse = object("InstalledSkillsListResponse", {
  skills: Type.Array(ref(InstalledSkillResponse)),
});
export type InstalledSkillsListResponse = Static<typeof InstalledSkillsListResponse>;

/** Switches something installed on or off. */
export const UpdateInstalledRequest = object("UpdateInstalledRequest", { enabled: Type.Boolean() });
export type UpdateInstalledRequest = Static<typeof UpdateInstalledRequest>;

export const UpdateInstalledResponse = object("UpdateInstalledResponse", {
  name: Type.String(),
  enabled: Type.Boolean(),
});
export type UpdateInstalledResponse = Static<typeof UpdateInstalledResponse>;

export const UninstalledResponse = object("UninstalledResponse", { message: Type.String() });
export type UninstalledResponse = Static<typeof UninstalledResponse>;

export const RefreshedSkillResponse = object("RefreshedSkillResponse", {
  message: Type.String(),
  skill: ref(InstalledSkillResponse),
});
export type RefreshedSkillResponse = Static<typeof RefreshedSkillResponse>;

/** A skill that can be installed. */
export const MarketplaceSkillInfo = object("MarketplaceSkillInfo", {
  name: Type.String(),
  description: orNull(Type.String()),
  source: Type.String(),
  installed: Type.Boolean(),
});
export type MarketplaceSkillInfo = Static<typeof MarketplaceSkillInfo>;

export const MarketplaceSkills = object("MarketplaceSkills", {
  skills: Type.Array(ref(MarketplaceSkillInfo)),
});
export type MarketplaceSkills = Static<typeof MarketplaceSkills>;

export const PluginSkillSummary = object("PluginSkillSummary", {
  name: Type.String(),
  description: orNull(Type.String()),
});
export type PluginSkillSummary = Static<typeof PluginSkillSummary>;

export const PluginsRequest = object("PluginsRequest", {
  load_user: flag(true),
  load_project: flag(true),
  project_dir: orNull(Type.String()),
});
export type PluginsRequest = Static<typeof PluginsRequest>;

/** A plugin found in a directory. */
export const PluginInfo = object("PluginInfo", {
  name: Type.String(),
  version: Type.Optional(Type.String({ default: "" })),
  description: Type.Optional(Type.String({ default: "" })),
  path: Type.Optional(Type.String({ default: "" })),
  skills: list(ref(PluginSkillSummary)),
  files: list(Type.String()),
});
export type PluginInfo = Static<typeof PluginInfo>;

export const PluginsResponse = object("PluginsResponse", { plugins: Type.Array(ref(PluginInfo)) });
export type PluginsResponse = Static<typeof PluginsResponse>;

export const InstallPluginRequest = object("InstallPluginRequest", installFields);
export type InstallPluginRequest = Static<typeof InstallPluginRequest>;

/** A plugin that a user installed. */
export const InstalledPluginResponse = object("InstalledPluginResponse", {
  ...installedFields,
  skills: orNull(Type.Array(ref(PluginSkillSummary))),
  files: orNull(Type.Array(Type.String())),
});
export type InstalledPluginResponse = Static<typeof InstalledPluginResponse>;

export const InstalledPluginsListResponse = object("InstalledPluginsListResponse", {
  plugins: Type.Array(ref(InstalledPluginResponse)),
});
export type InstalledPluginsListResponse = Static<typeof InstalledPluginsListResponse>;

export const RefreshedPluginResponse = object("RefreshedPluginResponse", {
  message: Type.String(),
  plugin: ref(InstalledPluginResponse),
});
export type RefreshedPluginResponse = Static<typeof RefreshedPluginResponse>;

/** A plugin that can be installed. */
export const MarketplacePluginInfo = object("MarketplacePluginInfo", {
  name: Type.String(),
  description: orNull(Type.String()),
  source: Type.String(),
  ref: orNull(Type.String()),
  repo_path: orNull(Type.String()),
  installed: Type.Boolean(),
});
export type MarketplacePluginInfo = Static<typeof MarketplacePluginInfo>;

export const MarketplacePlugins = object("MarketplacePlugins", {
  plugins: Type.Array(ref(MarketplacePluginInfo)),
});
export type MarketplacePlugins = Static<typeof MarketplacePlugins>;

export const SubAgentsRequest = object("SubAgentsRequest", {
  load_user: flag(true),
  load_project: flag(true),
  load_builtin: flag(true),
  project_dir: orNull(Type.String()),
});
export type SubAgentsRequest = Static<typeof SubAgentsRequest>;

/** A sub-agent for tasks, as its file describes it. */
export const SubAgentInfo = object("SubAgentInfo", {
  name: Type.String(),
  description: Type.Optional(Type.String({ default: "" })),
  model: Type.Optional(Type.String({ default: "inherit" })),
  color: orNull(Type.String()),
  tools: list(Type.String()),
  skills: list(Type.String()),
  system_prompt: Type.Optional(Type.String({ default: "" })),
  when_to_use_examples: list(Type.String()),
  permission_mode: orNull(Type.String()),
  max_iteration_per_run: orNull(Type.Integer()),
  max_budget_per_run: orNull(Type.Number()),
  mcp_config: orNull(anyObject()),
  mcp_servers: orNull(anyObject()),
  profile_store_dir: orNull(Type.String()),
  hooks: orNull(anyObject()),
  condenser: orNull(anyObject()),
  metadata: Type.Optional(anyObject({ impliedDefault: {} })),
  level: orNull(Type.String()),
  source: orNull(Type.String()),
  is_builtin: flag(false),
});
export type SubAgentInfo = Static<typeof SubAgentInfo>;

export const SubAgentsResponse = object("SubAgentsResponse", { agents: Type.Array(ref(SubAgentInfo)) });
export type SubAgentsResponse = Static<typeof SubAgentsResponse>;

/** Pages that were added to Agent Canvas. */
export const InstalledCanvasExtensionsList = object("InstalledCanvasExtensionsListResponse", {
  canvas_extensions: Type.Array(anyObject()),
});
export type InstalledCanvasExtensionsList = Static<typeof InstalledCanvasExtensionsList>;
