import { Type, type TSchema } from "typebox";
import { LLM } from "../agent/llm.ts";
import { HookConfigInput } from "../conversation/hook-config.ts";
import { mapOf, ref } from "../schema.ts";
import { MCPServerSettings } from "../settings/settings-patch.ts";

/**
 * Facts about fields of request bodies that the schemas do not contain, for {@link findUnusedFields}: by component name, then by field
 * name.
 */
type Notes<T> = Readonly<Record<string, Readonly<Record<string, T>>>>;

const any = Type.Unknown();
const named = (...names: string[]): Record<string, TSchema> =>
  Object.fromEntries(names.map((name) => [name, any]));

/** By name, or below `mcpServers`. Other programs write their own markers into such files. */
const mcpServer = Type.Object({
  ...MCPServerSettings.properties,
  ...named("name", "type", "alwaysAllow", "disabled"),
});
const mcpServers = Type.Unsafe({
  anyOf: [Type.Object({ mcpServers: mapOf(mcpServer) }), mapOf(mcpServer)],
});
/** Hook moments may also be named like events. */
const namesInEvents: Readonly<Record<string, TSchema>> = Object.fromEntries(
  Object.entries(HookConfigInput.properties).map(([name, matchers]) => [
    name.replaceAll(/(?:^|_)([a-z])/gu, (_, letter: string) => letter.toUpperCase()),
    matchers,
  ]),
);
const modelParts = {
  ...named("stream_idle_timeout"),
  fallback_strategy: Type.Object(named("fallback_llms")),
  router: Type.Object(named("kind", "llms_for_routing", "max_input_tokens", "router_name")),
};
const verification = Type.Object(
  named(
    "critic_enabled",
    "critic_mode",
    "critic_threshold",
    "enable_iterative_refinement",
    "max_refinement_iterations",
  ),
  { $id: "AgentVerification" },
);

/** Fields that are accepted although the schema, which follows the contract, lacks them, and the form of free objects. */
export const alsoRead: Notes<TSchema> = {
  StartConversationRequest: {
    ...named("secrets_encrypted", "observability_span_name"),
    agent_settings: Type.Unsafe({ $ref: "AgentSettingsChange" }),
    container: Type.Object(named("memory", "cpus", "browser")),
  },
  "Agent-Input": { mcp_config: mcpServers },
  "AgentContext-Input": named("disabled_skills", "load_memory", "marketplace_path"),
  AgentDefinition: { hooks: ref(HookConfigInput), mcp_config: mcpServers },
  HookDefinition: {
    ...named("name", "prompt", "system_prompt", "tools", "max_iterations", "on_failure"),
    // Python clients write the second, because the first is a keyword of their language.
    ...named("async", "async_"),
  },
  "LLMSummarizingCondenser-Input": named("minimum_progress"),
  SubAgentCondenser: named("minimum_progress"),
  "HookConfig-Input": { hooks: ref(HookConfigInput), ...namesInEvents },
  Skill: { ...named("disable_model_invocation"), mcp_tools: mcpServers },
  SkillsRequest: named("marketplace_path"),
  LLM: modelParts,
  LLMChange: modelParts,
  AgentSettingsChange: {
    ...named("schema_version", "agent_kind", "agent", "tools", "enable_sub_agents", "tool_concurrency_limit"),
    agent_context: Type.Unsafe({ $ref: "AgentContext-Input" }),
    condenser: Type.Unsafe({ anyOf: [{ $ref: "SubAgentCondenser" }, Type.Object(named("enabled", "type"))] }),
    mcp_config: mcpServers,
    verification,
  },
};

/** For a non-empty value: whether it has no effect. */
type AsksNothing = (value: unknown) => boolean;
const only =
  (...values: unknown[]): AsksNothing =>
  (value) =>
    values.includes(value);
const defaultOf = (name: keyof typeof LLM.properties): AsksNothing =>
  only((LLM.properties[name] as { readonly default?: unknown }).default);

const modelWithoutEffect: Readonly<Record<string, AsksNothing>> = {
  stream_idle_timeout: only(300),
  auth_type: only("api_key"),
  aws_profile_name: only(),
  aws_role_name: only(),
  aws_session_name: only(),
  custom_tokenizer: only(),
  disable_stop_word: only(false),
  force_string_serializer: only(false),
  inline_image_urls: only(false),
  log_completions_folder: defaultOf("log_completions_folder"),
  max_message_chars: defaultOf("max_message_chars"),
  modify_params: defaultOf("modify_params"),
};

/** Known fields without effect here, and their values that official clients send in every request. */
export const withoutEffect: Notes<AsksNothing> = {
  StartConversationRequest: {
    secrets_encrypted: only(false),
    observability_span_name: only("conversation"),
    // Official tools; one that this server lacks is reported as missing.
    tool_module_qualnames: (value) => Object.values(value as object).every(isOfficialModule),
  },
  LLM: modelWithoutEffect,
  LLMChange: modelWithoutEffect,
  "LLMSummarizingCondenser-Input": { minimum_progress: only(0.1) },
  SubAgentCondenser: { minimum_progress: only(0.1) },
  "AgentContext-Input": { load_memory: only(false), marketplace_path: only("marketplaces/default.json") },
  AgentVerification: { critic_enabled: only(false), enable_iterative_refinement: only(false) },
};

/** Fields of other versions of this API that look like a typo of ours, and are not. */
export const otherNames: Readonly<Record<string, readonly string[]>> = { SkillsRequest: ["org_configs"] };

function isOfficialModule(name: unknown): boolean {
  return typeof name === "string" && name.startsWith("openhands.");
}
