import { Type, type Static } from "typebox";
import { anyObject, list, mapOf, object, orNull, ref } from "../schema.ts";
import { SecretSourceInput } from "../security/secret-source.ts";
import { sourceFields } from "./installed-fields.ts";
import { PluginSkillSummary } from "./installed.ts";

/** `secrets` that are bound to the host of the source are sent there; `timeout` is in seconds. */
export const FetchPluginRequest = object("FetchPluginRequest", {
  ...sourceFields,
  secrets: Type.Optional(mapOf(ref(SecretSourceInput), { impliedDefault: {} })),
  timeout: Type.Optional(Type.Integer({ minimum: 1, maximum: 600, default: 60 })),
});
export type FetchPluginRequest = Static<typeof FetchPluginRequest>;

/** A file of a copy. */
export const SourceFile = object("SourceFile", {
  path: Type.String(),
  size: Type.Integer(),
  is_executable: Type.Boolean(),
});
export type SourceFile = Static<typeof SourceFile>;

/** Something to know before it is used. */
export const SourceNote = object("SourceNote", { code: Type.String(), detail: Type.String() });
export type SourceNote = Static<typeof SourceNote>;

/** `files` and `digest` are of a copy; a directory has neither. */
const fetchedFields = {
  path: Type.String(),
  resolved_ref: orNull(Type.String()),
  digest: orNull(Type.String()),
  source: Type.String(),
  repo_path: orNull(Type.String()),
  files: list(ref(SourceFile)),
  warnings: list(ref(SourceNote)),
};

export const PluginHook = object("PluginHook", {
  event: Type.String(),
  matcher: Type.String(),
  runs: Type.String(),
});
export type PluginHook = Static<typeof PluginHook>;

export const PluginServer = object("PluginServer", {
  name: Type.String(),
  transport: Type.String(),
  target: Type.String(),
});
export type PluginServer = Static<typeof PluginServer>;

export const PluginAgent = object("PluginAgent", { name: Type.String(), description: Type.String() });
export type PluginAgent = Static<typeof PluginAgent>;

/** What a plugin would bring into a conversation; nothing of it is used yet. */
export const FetchPluginResponse = object("FetchPluginResponse", {
  ...fetchedFields,
  name: Type.String(),
  version: Type.String(),
  description: Type.String(),
  manifest: anyObject(),
  skills: Type.Array(Type.String()),
  skill_summaries: list(ref(PluginSkillSummary)),
  commands: Type.Array(Type.String()),
  agents: list(ref(PluginAgent)),
  hooks: list(ref(PluginHook)),
  mcp_servers: list(ref(PluginServer)),
});
export type FetchPluginResponse = Static<typeof FetchPluginResponse>;

/** A skill, and what is in its folder; nothing of it is used yet. */
export const FetchSkillResponse = object("FetchSkillResponse", {
  ...fetchedFields,
  name: Type.String(),
  version: Type.String(),
  description: Type.String(),
  content: Type.String(),
  triggers: list(Type.String()),
});
export type FetchSkillResponse = Static<typeof FetchSkillResponse>;

/** The name of an installed plugin, an absolute path, or `address@commit`. */
export const LoadPluginRequest = object("LoadPluginRequest", {
  plugin_ref: Type.String({ minLength: 1, maxLength: 4_096 }),
});
export type LoadPluginRequest = Static<typeof LoadPluginRequest>;
