import { Type, type Static } from "typebox";
import { agentExtensions } from "../extensions/agent-extensions.ts";
import { anyObject, inputOfKind, list, orNull, outputOfKind, ref, unionByKind } from "../schema.ts";
import { ACPAgent, ACPAgentInput } from "./acp-agent.ts";
import { AgentContext, AgentContextInput } from "./agent-context.ts";
import { Condenser, CondenserInput } from "./condenser.ts";
import { Critic, CriticInput } from "./critic.ts";
import { LLM } from "./llm.ts";
import { Tool, ToolInput } from "./tool.ts";

const agentFields = {
  llm: ref(LLM),
  mcp_config: Type.Optional(anyObject({ impliedDefault: {}, description: "MCP servers by name." })),
  filter_tools_regex: orNull(Type.String(), {
    description: "Tools whose name does not start so are left out.",
  }),
  include_default_tools: Type.Optional(
    Type.Array(Type.String(), {
      impliedDefault: ["FinishTool", "ThinkTool"],
      description: "Built-in tools by class name.",
    }),
  ),
  system_prompt_filename: Type.Optional(Type.String({ default: "system_prompt.j2" })),
  security_policy_filename: Type.Optional(Type.String({ default: "security_policy.j2" })),
  system_prompt_kwargs: Type.Optional(anyObject({ impliedDefault: {} })),
  ...agentExtensions,
};

/** An agent: a model, tools, and the settings of its prompts and its history. */
export const Agent = outputOfKind("Agent", {
  ...agentFields,
  tools: list(ref(Tool)),
  agent_context: orNull(ref(AgentContext)),
  condenser: orNull(ref(Condenser)),
  critic: orNull(ref(Critic)),
});
export type Agent = Static<typeof Agent>;
export const AgentInput = inputOfKind("Agent", {
  ...agentFields,
  tools: list(ref(ToolInput)),
  agent_context: orNull(ref(AgentContextInput)),
  condenser: orNull(ref(CondenserInput)),
  critic: orNull(ref(CriticInput)),
});
export type AgentInput = Static<typeof AgentInput>;

/** Any kind of agent; an `Agent` where a request names no kind. The type is that of the kind with a model, which programs here read. */
export const AgentBase = Type.Unsafe<Agent>(
  unionByKind("AgentBase-Output", {
    "openhands__sdk__agent__agent__Agent-Output__1": Agent,
    "openhands__sdk__agent__acp_agent__ACPAgent-Output__1": ACPAgent,
  }),
);
export type AgentBase = Agent;
export const AgentBaseInput = Type.Unsafe<AgentInput>({
  ...unionByKind("AgentBase-Input", {
    "openhands__sdk__agent__agent__Agent-Input__1": AgentInput,
    "openhands__sdk__agent__acp_agent__ACPAgent-Input__1": ACPAgentInput,
  }),
  impliedKind: "Agent-Input",
});
export type AgentBaseInput = AgentInput;
