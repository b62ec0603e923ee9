import { Type, type Static } from "typebox";
import { SkillInfo } from "../agent/skill.ts";
import { choice, flag, object, orAbsent, orNull, ref } from "../schema.ts";

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
