import { mkdirSync } from "node:fs";
import { onceUnlessRejected } from "@convoke/protocol";
import {
  createInProcessHost,
  type ExecuteOptions,
  type ExecutionRequest,
  type ExecutionState,
  type Outcome,
  type ToolHost,
  type ToolListing,
  type ToolSession,
} from "@convoke/tool-host";
import { wait } from "../../lib/wait.ts";
import { expandServer, hasVariables } from "../../extensions/mcp/expand-variables.ts";
import { McpConnection, type McpTimes } from "../../extensions/mcp/mcp-connection.ts";
import type { McpServer } from "../../extensions/mcp/mcp-server.ts";
import type { McpServers, McpServerStatus } from "../../extensions/mcp/mcp-status.ts";
import { createMcpTool, mcpToolName, type OfferedTool } from "../../extensions/mcp/mcp-tool.ts";
import { openClient, type OpenClientDeps } from "../../extensions/mcp/open-client.ts";
import { hideInTool } from "../../extensions/mcp/hide-in-tool.ts";
import { listMcpTool } from "../../extensions/mcp/tool-listing.ts";
import { openSchemaBudget } from "../../extensions/mcp/tool-schema.ts";
import { ToolNames } from "../../extensions/mcp/tool-names.ts";
import type { AwaitedServers } from "../../engine/tool-belt.ts";
import type { ToolSource } from "../tool-source.ts";

/** The conversation around its MCP servers. */
export interface McpSurroundings {
  /** Whether a tool of another source has this name. */
  isTaken(name: string): boolean;
  /** Tools for whose name it is false are left out. */
  isLeft(name: string): boolean;
  /**
   * Present values of the conversation's secrets, for `${NAME}` in the configuration of a server. One that is bound to hosts is its
   * placeholder, but for a server at one of these hosts.
   */
  variables(server: McpServer, signal: AbortSignal): Promise<ReadonlyMap<string, string>>;
  /** A server stopped working; it is tried again by itself. */
  failed(server: string, reason: string): void;
  /** Tools that a server lists cannot be used. */
  omitted(server: string, reason: string): void;
}

export type McpSourceDeps = OpenClientDeps & {
  readonly around: McpSurroundings;
  readonly sessionId: string;
  /** That of a conversation which a server starts for this one. */
  readonly depth: number;
  readonly servers: readonly McpServer[];
  /** Private directory on the server's machine for the record of calls and the names of tools. */
  readonly stateDir: string;
  /** Secrets of the configuration; hidden in results like those of the conversation. It may grow. */
  readonly hidden: Iterable<string>;
  readonly times: McpTimes;
  /** How long from its start the conversation's first request to the model waits for servers that have not answered yet. */
  readonly firstWaitMs: number;
};

/** A shorter wait is no news. */
const momentMs = 1_000;

/** The tools of MCP servers. Servers connect in the background and never delay or fail a conversation (P20). */
export class McpSource implements ToolSource, McpServers {
  readonly #deps: McpSourceDeps;
  readonly #connections: readonly McpConnection[];
  readonly #names: ToolNames;
  readonly #records: ToolHost;
  /** One hold on the record for every tool that was called, so that calls of different tools do not wait for each other. */
  readonly #lanes = new Map<string, Promise<ToolSession>>();
  readonly #openedAtMs = performance.now();
  #offered: ReadonlyMap<string, OfferedTool & { readonly listing: ToolListing }> = new Map();
  #listings: readonly ToolListing[] = [];
  readonly #closed = onceUnlessRejected(() => this.#close());
  #isClosing = false;

  constructor(deps: McpSourceDeps) {
    this.#deps = deps;
    mkdirSync(deps.stateDir, { recursive: true, mode: 0o700 });
    this.#names = new ToolNames(deps.stateDir);
    this.#records = createInProcessHost({
      tools: [createMcpTool((name) => this.#offered.get(name))],
      environment: {},
    });
    this.#connections = deps.servers.map(
      (server) =>
        new McpConnection({
          name: server.name,
          callTimeoutMs: server.callTimeoutMs,
          depth: deps.depth,
          times: deps.times,
          user: {
            open: async (signal) => openClient(await this.#expand(server, signal), deps, signal),
            toolsChanged: () => this.#relist(),
            failed: (reason) => deps.around.failed(server.name, reason),
            omitted: (reason) => deps.around.omitted(server.name, reason),
          },
        }),
    );
  }

  tools(): readonly ToolListing[] {
    return this.#listings;
  }

  /** Also after a restart, before its server has answered. */
  owns(tool: string): boolean {
    return this.#names.isGiven(tool) && !this.#deps.around.isTaken(tool);
  }

  mcpStatus(): readonly McpServerStatus[] {
    const offered = [...this.#offered.values()];
    return this.#connections.map((connection, index) => ({
      name: connection.name,
      transport: this.#deps.servers[index]!.transport,
      ...connection.status,
      tools: offered.filter((tool) => tool.connection === connection).map(({ listing }) => listing.name),
    }));
  }

  reconnectMcp(name: string): boolean {
    const connection = this.#connections.find((other) => other.name === name);
    connection?.reconnect();
    return connection !== undefined;
  }

  async ready(signal: AbortSignal, onAwaited: (servers: AwaitedServers) => void): Promise<void> {
    const remainingMs = this.#openedAtMs + this.#deps.firstWaitMs - performance.now();
    if (remainingMs <= 0) return;
    const untilMs = Date.now() + remainingMs;
    const left = new Set(this.#connections);
    const settled = Promise.all(
      this.#connections.map(async (connection) => {
        await connection.settled;
        left.delete(connection);
      }),
    );
    const isOver = new AbortController();
    const either = AbortSignal.any([signal, isOver.signal]);
    const moment = wait(Math.min(momentMs, remainingMs), either).then(() => {
      if (!either.aborted && left.size > 0)
        onAwaited({ names: Array.from(left, ({ name }) => name), untilMs });
    });
    await Promise.race([settled, wait(remainingMs, either)]);
    isOver.abort();
    await moment;
  }

  async execute(request: ExecutionRequest, options?: ExecuteOptions): Promise<Outcome> {
    if (this.#isClosing) {
      return { type: "error", text: "The tool session is closed; the call was not run." };
    }
    const lane = await this.#lane(request.tool);
    const hidden = Array.from(this.#deps.hidden, (value) => ({ name: "", value }));
    const secrets = [...request.secrets, ...hidden];
    return await lane.execute({ ...request, tool: mcpToolName, secrets }, options);
  }

  async state(actionId: string): Promise<ExecutionState> {
    return await (await this.#lane("")).state(actionId);
  }

  announce(actionId: string, tool: string): void {
    if (this.#isClosing) return;
    this.#lane(tool).then(
      (lane) => lane.announce?.(actionId, mcpToolName),
      // The call meets the same failure, and answers with it.
      () => {},
    );
  }

  async cancel(actionId: string): Promise<void> {
    await (await this.#lane("")).cancel(actionId);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true;
    await this.#closed();
  }

  async #close(): Promise<void> {
    await Promise.all([
      ...this.#connections.map((connection) => connection[Symbol.asyncDispose]()),
      this.#records[Symbol.asyncDispose](),
    ]);
  }

  /** What needs a secret is read again for each connection, so that a changed one is used. */
  async #expand(server: McpServer, signal: AbortSignal): Promise<McpServer> {
    return hasVariables(server)
      ? expandServer(server, await this.#deps.around.variables(server, signal))
      : server;
  }

  /** Servers in the order of the configuration, tools in the order of their servers: requests to the model stay alike. */
  #relist(): void {
    const { around } = this.#deps;
    const offered = new Map<string, OfferedTool & { readonly listing: ToolListing }>();
    const hidden = Array.from(this.#deps.hidden, (value) => ({ name: "", value }));
    for (const connection of this.#connections) {
      const budget = openSchemaBudget();
      for (const announced of connection.tools) {
        const name = this.#names.nameOf(connection.name, announced.name, (taken) => around.isTaken(taken));
        if (!around.isLeft(name)) continue;
        const listing = listMcpTool(name, hideInTool(announced, hidden), budget);
        offered.set(name, { announced, connection, parameters: listing.parameters, listing });
      }
    }
    this.#offered = offered;
    this.#listings = Array.from(offered.values(), ({ listing }) => listing);
  }

  async #lane(tool: string): Promise<ToolSession> {
    const known = this.#lanes.get(tool);
    if (known !== undefined) return await known;
    const { sessionId, stateDir } = this.#deps;
    const lane = this.#records.openSession({
      sessionId,
      workspaceDir: stateDir,
      stateDir,
      tools: [{ name: mcpToolName, params: { tool } }],
    });
    this.#lanes.set(tool, lane);
    try {
      return await lane;
    } catch (error) {
      // The next call opens it again.
      this.#lanes.delete(tool);
      throw error;
    }
  }
}
