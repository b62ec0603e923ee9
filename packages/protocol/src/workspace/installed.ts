import { Type, type Static } from "typebox";
import { anyObject, flag, list, object, orAbsent, orNull, ref } from "../schema.ts";
import { installedFields, sourceFields } from "./installed-fields.ts";

/** With a commit as `ref`, `requested_ref` is what a refresh follows. */
const installFields = {
  ...sourceFields,
  requested_ref: orAbsent(Type.String({ maxLength: 256 })),
  force: flag(false),
};

/** What differs between two commits of a source, by path. */
export const SourceChanges = object("SourceChanges", {
  from: Type.String(),
  to: Type.String(),
  added: Type.Array(Type.String()),
  changed: Type.Array(Type.String()),
  removed: Type.Array(Type.String()),
});
export type SourceChanges = Static<typeof SourceChanges>;

/** `commit` is what was shown; `dry_run` shows what a refresh would change. */
export const RefreshInstalledRequest = object("RefreshInstalledRequest", {
  commit: orAbsent(Type.String({ maxLength: 64 })),
  dry_run: flag(false),
});
export type RefreshInstalledRequest = Static<typeof RefreshInstalledRequest>;

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
  changes: orNull(ref(SourceChanges)),
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
  changes: orNull(ref(SourceChanges)),
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
