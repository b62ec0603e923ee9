import { Type, type TSchema } from "typebox";
import { HookConfigInput } from "../conversation/hook-config.ts";
import { mapOf, ref } from "../schema.ts";
import { MCPServerSettings } from "../settings/settings-patch.ts";
import type { Notes } from "./field-notes.ts";

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
