import { Type, type Static } from "typebox";
import { LLM } from "../agent/llm.ts";
import { anyObject, choice, list, object, orAbsent, ref, refTo } from "../schema.ts";

const numbers = {
  max_size: orAbsent(Type.Integer({ exclusiveMinimum: 0, description: "Events." })),
  max_tokens: orAbsent(Type.Integer({ exclusiveMinimum: 0 })),
  keep_first: orAbsent(Type.Integer({ minimum: 0, description: "Events never forgotten." })),
  hard_context_reset_max_retries: orAbsent(Type.Integer({ exclusiveMinimum: 0 })),
  hard_context_reset_context_scaling: orAbsent(Type.Number({ exclusiveMinimum: 0, exclusiveMaximum: 1 })),
};

/** A condenser of a sub-agent: the fields of an agent's condenser; without a model, the sub-agent's own model writes the summaries. */
export type SubAgentCondenser = {
  kind?: "LLMSummarizingCondenser" | "NoOpCondenser" | "PipelineCondenser" | null;
  llm?: LLM | null;
  condensers?: SubAgentCondenser[] | null;
} & { [Name in keyof typeof numbers]?: number | null };
export const SubAgentCondenser = object("SubAgentCondenser", {
  kind: orAbsent(choice(["LLMSummarizingCondenser", "NoOpCondenser", "PipelineCondenser"])),
  llm: orAbsent(ref(LLM)),
  ...numbers,
  condensers: orAbsent(Type.Array(refTo<SubAgentCondenser>("SubAgentCondenser"), { maxItems: 20 })),
});

/** A sub-agent that a conversation brings, in the form of newer clients. Unsupported fields are rejected by name. */
export const AgentDefinition = object("AgentDefinition", {
  name: Type.String({ minLength: 1, maxLength: 100 }),
  description: Type.Optional(Type.String({ default: "" })),
  model: Type.Optional(
    Type.String({ default: "inherit", description: "The name of a stored model profile, or `inherit`." }),
  ),
  color: orAbsent(Type.String()),
  tools: list(Type.String()),
  skills: list(Type.String({ maxLength: 255 }), {
    maxItems: 100,
    description: "Names of the skills that it has; those of the conversation when empty.",
  }),
  system_prompt: Type.Optional(Type.String({ default: "" })),
  source: orAbsent(Type.String()),
  level: orAbsent(Type.String()),
  when_to_use_examples: list(Type.String()),
  hooks: orAbsent(anyObject()),
  permission_mode: orAbsent(choice(["always_confirm", "confirm_risky", "never_confirm"])),
  max_iteration_per_run: orAbsent(Type.Integer({ minimum: 1 })),
  max_budget_per_run: orAbsent(Type.Number({ exclusiveMinimum: 0 })),
  mcp_config: orAbsent(anyObject()),
  profile_store_dir: orAbsent(Type.String()),
  condenser: orAbsent(Type.Union([choice(["default", "none"]), ref(SubAgentCondenser)])),
  worktree: orAbsent(
    Type.Boolean({ description: "Work in a git worktree of its own, merged back at the end." }),
  ),
  metadata: Type.Optional(anyObject({ impliedDefault: {} })),
});
export type AgentDefinition = Static<typeof AgentDefinition>;
