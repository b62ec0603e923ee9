import { Type, type Static } from "typebox";
import { SkillInfo } from "../agent/skill.ts";
import { anyObject, choice, flag, list, object, orAbsent, orNull, ref } from "../schema.ts";

/** A tool that an agent can ask for by name. */
export const ToolCatalogEntry = object("ToolCatalogEntry", {
  name: Type.String(),
  user_selectable: flag(true),
  usable: flag(true),
  description: Type.Optional(Type.String({ default: "" })),
  in_default_set: flag(false),
});
export const ToolCatalogResponse = object("ToolCatalogResponse", {
  tools: Type.Array(ref(ToolCatalogEntry)),
});
export type ToolCatalogResponse = Static<typeof ToolCatalogResponse>;

/** A skill of the server or of the caller, with its owner. */
export const SkillCatalogEntry = object("SkillCatalogEntry", {
  ...SkillInfo.properties,
  disable_model_invocation: flag(false),
  origin: choice(["public", "user"]),
});
export const SkillCatalogResponse = object("SkillCatalogResponse", {
  skills: Type.Array(ref(SkillCatalogEntry)),
});
export type SkillCatalogResponse = Static<typeof SkillCatalogResponse>;

/** A repository at a provider. */
export const GitProviderRepository = object("GitProviderRepository", {
  id: Type.String(),
  full_name: Type.String(),
  git_provider: Type.String(),
  is_public: Type.Boolean(),
  stargazers_count: orAbsent(Type.Integer()),
  pushed_at: orAbsent(Type.String()),
  main_branch: orAbsent(Type.String()),
});
export const GitProviderRepositoryPage = object("GitProviderRepositoryPage", {
  items: Type.Array(ref(GitProviderRepository)),
  next_page_id: orNull(Type.String()),
  missing_token: flag(false),
});
export type GitProviderRepositoryPage = Static<typeof GitProviderRepositoryPage>;

/** The agent behind the Agent Client Protocol whose models are requested. */
export const ACPModelDiscoveryRequest = object("ACPModelDiscoveryRequest", {
  agent_settings: anyObject(),
  secrets: Type.Optional(anyObject()),
  refresh: flag(false),
});
export const ACPModelDiscoveryError = object("ACPModelDiscoveryError", {
  code: Type.String(),
  detail: Type.String(),
});
export const ACPModelDiscovery = object("ACPModelDiscovery", {
  agent_name: orNull(Type.String()),
  agent_version: orNull(Type.String()),
  current_model_id: orNull(Type.String()),
  available_models: list(anyObject()),
  supports_runtime_model_switch: flag(false),
  error: orNull(ref(ACPModelDiscoveryError)),
});
export type ACPModelDiscovery = Static<typeof ACPModelDiscovery>;
