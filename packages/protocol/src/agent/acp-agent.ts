import { Type, type Static, type TObject } from "typebox";
import { anyObject, inputOfKind, list, mapOf, orAbsent, orNull, outputOfKind, ref } from "../schema.ts";
import { AgentContext, AgentContextInput } from "./agent-context.ts";
import { LLM } from "./llm.ts";

/** How another agent is started and spoken to by the Agent Client Protocol; seconds where times are meant. */
const acpFields = {
  acp_command: Type.Array(Type.String(), {
    description: "The program and its first arguments; empty for the usual one of `acp_server`.",
  }),
  acp_server: orAbsent(Type.String(), { description: "The name of a known agent, such as opencode." }),
  acp_args: Type.Optional(Type.Array(Type.String(), { impliedDefault: [] })),
  acp_env: Type.Optional(
    mapOf(Type.String(), {
      impliedDefault: {},
      description:
        "Environment variables of the agent, which everybody may read. Keys belong into `secrets`.",
    }),
  ),
  acp_session_mode: orAbsent(Type.String(), { description: "The mode that sessions begin in." }),
  acp_prompt_timeout: Type.Optional(
    Type.Number({ exclusiveMinimum: 0, maximum: 86_400, default: 1800, description: "Without any update." }),
  ),
  acp_startup_timeout: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 3600, default: 90 })),
  acp_model: orAbsent(Type.String(), { description: "The agent's own choice where absent." }),
  acp_resume_session_id: orAbsent(Type.String(), {
    description: "A session of the agent that the conversation continues.",
  }),
  acp_file_secrets: Type.Optional(
    Type.Array(anyObject(), { maxItems: 0, description: "Secrets are environment variables only." }),
  ),
  acp_isolate_data_dir: Type.Optional(
    Type.Literal(false, { description: "The wall of the conversation separates agents." }),
  ),
};

/** The options of another agent alone. */
export type AcpOptions = Static<TObject<typeof acpFields>>;

const sharedFields = {
  ...acpFields,
  mcp_config: Type.Optional(anyObject({ impliedDefault: {}, description: "MCP servers by name." })),
};

/** Another agent, started as a program beside the workspace; fields of other agents have no effect. */
export const ACPAgentInput = inputOfKind("ACPAgent", {
  ...sharedFields,
  llm: orAbsent(anyObject(), { description: "Not used: the agent has models of its own." }),
  tools: list(anyObject(), { description: "Not used: the agent has tools of its own." }),
  agent_context: orNull(ref(AgentContextInput)),
});
export type ACPAgentInput = Static<typeof ACPAgentInput>;

export const ACPAgent = outputOfKind("ACPAgent", {
  ...sharedFields,
  llm: ref(LLM),
  tools: list(anyObject()),
  agent_context: orNull(ref(AgentContext)),
});
export type ACPAgent = Static<typeof ACPAgent>;
