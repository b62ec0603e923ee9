import { Console } from "node:console";
import { once } from "node:events";
import { resolve } from "node:path";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { ConvokeClient } from "@convoke/client";
import { version } from "@convoke/server";
import { read } from "@convoke/server/setting";
import { settings } from "@convoke/server/settings";
import { Option, type Command } from "commander";
import { toStartRequest } from "../acp/start-session.ts";
import type { ModeId } from "../acp/mapping.ts";
import { configuredEnvironment } from "../configuration/load-configuration.ts";
import { createMcpServer } from "../mcp/mcp-server.ts";
import { openClient, type OpenedClient } from "../open-client.ts";
import { openOwnServer } from "../open-own-server.ts";
import { parseLogLevel } from "./parse-options.ts";
import { withStore, type StoreOptions } from "./store-options.ts";

type McpOptions = StoreOptions & {
  readonly workspace: string;
  readonly model?: string;
  readonly baseUrl?: string;
  readonly mode: ModeId;
  readonly allowApprove?: true;
  readonly sandbox?: string;
  readonly network?: string;
  readonly server?: string;
  readonly logLevel: ReturnType<typeof parseLogLevel>;
};

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
    .option("--model <provider/model>", "the model of new conversations; overrides LLM_MODEL")
    .option("--base-url <url>", "overrides LLM_BASE_URL")
    .addOption(
      new Option("--mode <mode>", "how new conversations ask before actions, or plan first")
        .choices(["ask", "risky", "auto", "plan"])
        .default("risky"),
    )
    .option("--allow-approve", "let the calling agent answer approvals")
    .addOption(
      new Option(
        "--sandbox <kind>",
        "the wall around the tools of a server that is started: auto, bubblewrap, or off to run them as your user",
      ).choices(["auto", "bubblewrap", "off"]),
    )
    .option("--network <network>", "what commands reach behind that wall, as of convoke run");
  withStore(command, "where conversations are stored (default ~/.convoke)")
    .option("--server <url>", "use this running server, with the key in SESSION_API_KEY")
    .option(
      "--log-level <level>",
      "fatal, error, warn, info, debug or silent; logs go to stderr",
      parseLogLevel,
      "error",
    )
    .addHelpText("after", notes)
    .action((options: McpOptions) => mcp(options, keepCompiled));
}

async function mcp(options: McpOptions, keepCompiled: () => void): Promise<void> {
  // Nothing but messages may be on stdout, whatever a library has to say.
  globalThis.console = new Console(process.stderr, process.stderr);
  const environment = configuredEnvironment();
  await using opened = await openClient(options, {
    environment,
    openOwn: async () => {
      const own = await openOwnServer({
        ...options,
        wall: options.sandbox,
        withoutWall: "refuse",
        isJson: true,
      });
      keepCompiled();
      return own;
    },
  });
  const model = {
    model: options.model ?? read(environment, settings.llm_model),
    apiKey: read(environment, settings.llm_api_key),
    baseUrl: options.baseUrl ?? read(environment, settings.llm_base_url),
  };
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
