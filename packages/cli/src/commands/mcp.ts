import { once } from "node:events";
import { resolve } from "node:path";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { ConvokeClient } from "@convoke/client";
import { version } from "@convoke/server/version";
import type { Command } from "commander";
import { toStartRequest } from "../acp/start-session.ts";
import { createMcpServer } from "../mcp/mcp-server.ts";
import type { OpenedClient } from "../open-client.ts";
import { openForStdio, withStdioOptions, type StdioOptions } from "./stdio-program.ts";

type McpOptions = StdioOptions & { readonly workspace: string; readonly allowApprove?: true };

const notes = `
For an agent that takes tools from MCP servers over stdio. It can start
conversations, send messages, wait, read, stop and search; approvals stay with a
person unless --allow-approve is given. The server is the one that runs on the
data folder; where none does, one is started for the time. The model of new
conversations comes from LLM_MODEL, LLM_API_KEY and LLM_BASE_URL, else from the
settings of the server.`;

export function addMcp(program: Command, keepCompiled: () => void): void {
  const command = program
    .command("mcp")
    .description("Give another agent conversations as tools, by the Model Context Protocol")
    .option("--workspace <directory>", "where new conversations work unless a call says so", ".")
    .option("--allow-approve", "let the calling agent answer approvals");
  withStdioOptions(command, "conversations")
    .addHelpText("after", notes)
    .action((options: McpOptions) => mcp(options, keepCompiled));
}

async function mcp(options: McpOptions, keepCompiled: () => void): Promise<void> {
  const { opened, model } = await openForStdio(options, keepCompiled);
  await using _ = opened;
  const server = createMcpServer(
    {
      clientAt: (depth) => clientAt(opened, depth),
      startRequest: (folder) => {
        const cwd = folder ?? resolve(options.workspace);
        return toStartRequest({ cwd, mcpServers: [], mode: options.mode, model });
      },
      mayApprove: options.allowApprove === true,
    },
    version,
  );
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a server has this one listener, and is no event target
  const closed = new Promise<void>((done) => (server.server.onclose = done));
  const leave = (): void => void server.close();
  for (const signal of ["SIGTERM", "SIGHUP", "SIGINT"] as const) process.once(signal, leave);
  await server.connect(new StdioServerTransport());
  await Promise.race([closed, once(process.stdin, "end")]);
  await server.close();
  process.stdin.destroy();
}

/** The server keeps how deep a conversation is, so that a chain of agents ends. */
function clientAt({ url, apiKey }: OpenedClient, depth: number): ConvokeClient {
  return new ConvokeClient({
    baseUrl: url,
    ...(apiKey === null ? {} : { apiKey }),
    fetch: (input, init) => {
      const headers = new Headers(init?.headers);
      headers.set("x-convoke-start-depth", String(depth));
      return fetch(input, { ...init, headers });
    },
  });
}
