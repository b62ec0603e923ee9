import type { ACPAgentInput, StartConversationRequest } from "@convoke/protocol";
import { commandOf, knownAcpServers, toStoredAgent } from "../../../agent/acp-options.ts";
import { Fault, invalidField, type FieldFault } from "../../../lib/fault.ts";

type Agent = StartConversationRequest["agent"];

export function isAcpAgent(agent: Agent): boolean {
  return "acp" in agent;
}

/** A request for another agent in the form of the others; options of one in the agent itself are ours alone. */
export function readAcpAgent(request: StartConversationRequest): StartConversationRequest {
  const given = request.agent as unknown as ACPAgentInput;
  if (given.kind !== "ACPAgent") {
    const { acp: _, ...agent } = request.agent as Agent & { acp?: unknown };
    return { ...request, agent };
  }
  const agent = toStoredAgent(given);
  const command = commandOf(agent.acp);
  if (command.length === 0 || command[0]!.trim() === "")
    throw invalidField(
      ["body", "agent", "acp_command"],
      `Name the program and its arguments, such as ["opencode", "acp"], or one of these in acp_server: ${knownAcpServers.join(", ")}.`,
    );
  refuse(request);
  return { ...request, agent };
}

/** What needs a model of ours. */
function refuse(request: StartConversationRequest): void {
  const {
    agent_type: type,
    agent_definitions: definitions,
    client_tools: tools,
    response_schema: schema,
  } = request;
  const given: readonly (readonly [string, boolean])[] = [
    ["client_tools", (tools ?? []).length > 0],
    ["response_schema", (schema ?? null) !== null],
    ["agent_definitions", (definitions ?? []).length > 0],
    ["agent_type", type === "plan"],
  ];
  const fields = given.flatMap(([field, isGiven]): FieldFault[] => {
    const msg = `${field} is not supported with an ACPAgent, which has tools and prompts of its own. Leave this field out.`;
    return isGiven ? [{ loc: ["body", field], msg, type: "not_supported" }] : [];
  });
  if (fields.length > 0)
    throw new Fault("caller", "not_supported", "The request asks for something unsupported.", fields);
}
