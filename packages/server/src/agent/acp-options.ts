import type { ACPAgentInput, AcpOptions, Agent, AgentInput } from "@convoke/protocol";
import { withoutUndefined } from "../lib/without-undefined.ts";

/** An agent as a conversation stores it; `acp` where another program does its turns. */
export type StoredAgent = Agent & { readonly acp?: AcpOptions };

/** What stands in the place of a model, which the other agent chooses itself. */
export const noModel = { model: "acp-managed", stream: true } as const;

/** The programs of the agents that the wire knows by name, without their arguments. */
const commands: Readonly<Record<string, readonly string[]>> = {
  "claude-code": ["claude-agent-acp"],
  codex: ["codex-acp"],
  "gemini-cli": ["gemini", "--acp"],
  "kimi-code": ["kimi", "acp"],
  opencode: ["opencode", "acp"],
  pi: ["pi-acp"],
};

export const knownAcpServers: readonly string[] = Object.keys(commands);

/** The whole command line; empty where neither the options nor the name of the agent say one. */
export function commandOf({
  acp_command: given,
  acp_server: server,
  acp_args: args = [],
}: AcpOptions): string[] {
  const command = given.length > 0 ? given : (commands[server ?? ""] ?? []);
  return command.length === 0 ? [] : [...command, ...args];
}

/** An agent of the request as the rest of the server knows agents: without tools and with no model of ours. */
export function toStoredAgent(given: ACPAgentInput): AgentInput & { readonly acp: AcpOptions } {
  const { agent_context: context, mcp_config: servers, ...rest } = given;
  return withoutUndefined({
    kind: "Agent",
    llm: noModel,
    tools: [],
    include_default_tools: [],
    agent_context: context,
    mcp_config: servers,
    acp: optionsOf(rest),
  });
}

/** An agent as clients read it. */
export function shownAgent({ acp, ...agent }: StoredAgent): Agent {
  if (acp === undefined) return agent;
  const { llm, tools, mcp_config: servers, agent_context: context } = agent;
  const shown = { ...acp, llm, tools, mcp_config: servers, agent_context: context, kind: "ACPAgent" };
  return withoutUndefined(shown) as unknown as Agent;
}

function optionsOf(given: Readonly<Record<string, unknown>>): AcpOptions {
  return Object.fromEntries(
    Object.entries(given).filter(([name, value]) => name.startsWith("acp_") && value !== null),
  ) as AcpOptions;
}
