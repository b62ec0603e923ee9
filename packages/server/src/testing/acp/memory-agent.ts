import type { AcpOptions } from "@convoke/protocol";
import { noModel } from "../../agent/acp-options.ts";
import type { ConversationConfig } from "../../engine/conversation-config.ts";
import { AcpAgent } from "../../extensions/acp/acp-agent.ts";
import type { AgentFiles } from "../../extensions/acp/client-files.ts";
import { noSkills } from "../../extensions/skills/skill-set.ts";
import { Belt } from "../../tools/belt.ts";
import { createAcpSource } from "../../tools/sources/acp-source.ts";
import { openMemoryConversation, type MemoryConversation } from "../memory-conversation.ts";
import type { MemoryLog } from "../interleaving/memory-journal.ts";
import type { AgentScript } from "./agent-script.ts";
import { startInProcess, type StartedAgents } from "./start-in-process.ts";

export type MemoryAgentOptions = {
  readonly acp?: Partial<AcpOptions>;
  readonly config?: Partial<ConversationConfig>;
  readonly files?: AgentFiles;
  /** Of an earlier process. */
  readonly log?: MemoryLog;
  readonly agents?: StartedAgents;
};

/** A conversation with a scripted agent, in memory. */
export async function openMemoryAgent(
  script: AgentScript,
  { acp: more = {}, agents = startInProcess(script), config = {}, files, log }: MemoryAgentOptions = {},
): Promise<MemoryConversation & { readonly agents: StartedAgents }> {
  const acp: AcpOptions = { acp_command: ["scripted"], ...more };
  const opened: MemoryConversation = await openMemoryConversation({
    model: null as never,
    agent: { llm: { ...noModel }, tools: [], include_default_tools: [], acp },
    config,
    ...(log === undefined ? {} : { log }),
    openBelt: () => {
      const agent: AcpAgent = new AcpAgent({
        command: acp.acp_command,
        options: () => opened.conversation.configuration.config.agent.acp ?? acp,
        toolHost: agents,
        workspaceDir: "/work",
        files: files ?? null,
        environment: async () => ({ KEY: "value" }),
        servers: async () => [],
        clientVersion: "0",
      });
      const none = null as never;
      const workspace = { terminals: async () => [], attach: none, attachBrowser: none };
      return new Belt({ sources: [createAcpSource(agent)], workspace, skills: noSkills, agent });
    },
  });
  return { ...opened, agents };
}
