import { Type, type Static } from "typebox";
import { anyObject, choice, closedObject, flag, list, object, orAbsent, orNull, ref } from "../schema.ts";

/** Fields that newer clients send as null when unused. A value is rejected: it would change the agent or its permissions. */
const absent = (description: string) => Type.Optional(Type.Null({ description }));

const sharedFields = {
  schema_version: Type.Optional(Type.Integer({ minimum: 1 })),
  id: orAbsent(Type.String(), { description: "Ours; a value that is sent is ignored." }),
  name: orAbsent(Type.String(), { description: "The one of the path; a value that is sent is ignored." }),
  revision: orAbsent(Type.Integer(), { description: "Counts the changes; a value that is sent is ignored." }),
  mcp_server_refs: orAbsent(Type.Array(Type.String()), {
    description: "Names of MCP servers of the settings; null means all of them.",
  }),
  secret_refs: absent("An agent has all secrets of its conversation."),
  disabled_skills: Type.Optional(Type.Array(Type.String())),
};

/** A stored agent that consists of references and contains no secrets. */
export const OpenHandsAgentProfile = closedObject("OpenHandsAgentProfile", {
  ...sharedFields,
  agent_kind: Type.Optional(Type.Literal("openhands", { default: "openhands" })),
  llm_profile_ref: Type.String({
    minLength: 1,
    description:
      "Name of a stored model; default means that of the settings unless a stored one has this name.",
  }),
  agent: Type.Optional(Type.String()),
  persona: absent("Personas are not supported; see system_message_suffix."),
  public_skills: absent("All public skills are there; see disabled_skills."),
  enable_classify_and_switch_llm_tool: Type.Optional(Type.Literal(false)),
  meta_profile_ref: orAbsent(Type.String({ minLength: 1 }), {
    description: "Name of a meta profile; kept for clients, nothing routes by it.",
  }),
  tools: orAbsent(Type.Array(anyObject())),
  system_message_suffix: orAbsent(Type.String()),
  condenser: orAbsent(anyObject()),
  verification: orAbsent(anyObject()),
  enable_sub_agents: Type.Optional(Type.Boolean()),
  enable_switch_llm_tool: Type.Optional(Type.Boolean()),
  tool_concurrency_limit: Type.Optional(Type.Integer({ minimum: 1 })),
});
export type OpenHandsAgentProfile = Static<typeof OpenHandsAgentProfile>;

/** Another agent, spoken to by the Agent Client Protocol. */
export const ACPAgentProfile = closedObject("ACPAgentProfile", {
  ...sharedFields,
  agent_kind: Type.Literal("acp"),
  skills: Type.Optional(Type.Array(Type.Unknown(), { maxItems: 0 })),
  system_message_suffix: orAbsent(Type.String()),
  acp_server: Type.String(),
  acp_model: orAbsent(Type.String()),
  acp_session_mode: orAbsent(Type.String()),
  acp_prompt_timeout: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
  acp_startup_timeout: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
  acp_command: orAbsent(Type.String()),
  acp_args: orAbsent(Type.Array(Type.String())),
});
export type ACPAgentProfile = Static<typeof ACPAgentProfile>;

const agentKind = choice(["openhands", "acp"]);

/** Summary of an agent profile. */
export const AgentProfileInfo = object("AgentProfileInfo", {
  id: orNull(Type.String()),
  name: Type.String(),
  agent_kind: agentKind,
  revision: orNull(Type.Integer()),
  llm_profile_ref: orNull(Type.String()),
  mcp_server_refs: orNull(Type.Array(Type.String())),
});
export type AgentProfileInfo = Static<typeof AgentProfileInfo>;

/** All agent profiles. */
export const AgentProfileListResponse = object("AgentProfileListResponse", {
  profiles: Type.Array(ref(AgentProfileInfo)),
  active_agent_profile_id: orNull(Type.String()),
});
export type AgentProfileListResponse = Static<typeof AgentProfileListResponse>;

/** One agent profile. */
export const AgentProfileDetailResponse = object("AgentProfileDetailResponse", {
  name: Type.String(),
  profile: anyObject(),
});
export type AgentProfileDetailResponse = Static<typeof AgentProfileDetailResponse>;

/** An agent profile was changed. */
export const AgentProfileMutationResponse = object("AgentProfileMutationResponse", {
  name: Type.String(),
  message: Type.String(),
});
export type AgentProfileMutationResponse = Static<typeof AgentProfileMutationResponse>;

/** An agent profile was made the one for new conversations; the settings are unchanged. */
export const ActivateAgentProfileResponse = object("ActivateAgentProfileResponse", {
  id: Type.String(),
  message: Type.String(),
  agent_settings_applied: flag(false),
});
export type ActivateAgentProfileResponse = Static<typeof ActivateAgentProfileResponse>;

const names = list(Type.String());

/** The result of launching an agent profile, without launching it. */
export const AgentProfileDiagnostics = object("AgentProfileDiagnostics", {
  agent_kind: agentKind,
  valid: flag(false),
  errors: names,
  llm_profile_ref: orNull(Type.String()),
  llm_profile_resolved: flag(false),
  llm_api_key_set: flag(false),
  mcp_server_refs: orNull(Type.Array(Type.String())),
  resolved_mcp_config_keys: names,
  resolved_mcp_servers: names,
  dangling_mcp_server_refs: names,
  disabled_skills: names,
  resolved_skills: names,
  acp_api_key_secret_name: orNull(Type.String()),
  acp_base_url_secret_name: orNull(Type.String()),
  acp_file_secret_names: names,
  resolved_settings: orNull(anyObject()),
});
export type AgentProfileDiagnostics = Static<typeof AgentProfileDiagnostics>;
