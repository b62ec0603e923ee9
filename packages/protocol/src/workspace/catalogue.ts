import { Type, type Static } from "typebox";
import { SkillInfo } from "../agent/skill.ts";
import { HookConfig } from "../conversation/hook-config.ts";
import { choice, flag, list, mapOf, object, orNull, ref } from "../schema.ts";

/** A port of a sandbox that is open to the outside. */
export const ExposedUrl = object("ExposedUrl", {
  name: Type.String(),
  url: Type.String(),
  port: Type.Integer(),
});
export type ExposedUrl = Static<typeof ExposedUrl>;

export const SandboxConfig = object("SandboxConfig", { exposed_urls: list(ref(ExposedUrl)) });
export type SandboxConfig = Static<typeof SandboxConfig>;

/** Location of an organisation's skills. */
export const OrgConfig = object("OrgConfig", {
  repository: Type.String(),
  provider: Type.String(),
  org_repo_url: Type.String(),
  org_name: Type.String(),
});
export type OrgConfig = Static<typeof OrgConfig>;

/** Selection of skills. */
export const SkillsRequest = object("SkillsRequest", {
  load_public: flag(true),
  load_user: flag(true),
  load_project: flag(true),
  load_org: flag(true),
  project_dir: orNull(Type.String()),
  org_config: orNull(ref(OrgConfig)),
  sandbox_config: orNull(ref(SandboxConfig)),
});
export type SkillsRequest = Static<typeof SkillsRequest>;

/** The skills found, with their number per source. */
export const SkillsResponse = object("SkillsResponse", {
  skills: Type.Array(ref(SkillInfo)),
  sources: Type.Optional(mapOf(Type.Integer(), { impliedDefault: {} })),
});
export type SkillsResponse = Static<typeof SkillsResponse>;

export const SyncResponse = object("SyncResponse", {
  status: choice(["success", "error"]),
  message: Type.String(),
});
export type SyncResponse = Static<typeof SyncResponse>;

export const HooksRequest = object("HooksRequest", { project_dir: orNull(Type.String()) });
export type HooksRequest = Static<typeof HooksRequest>;

export const HooksResponse = object("HooksResponse", { hook_config: orNull(ref(HookConfig)) });
export type HooksResponse = Static<typeof HooksResponse>;
