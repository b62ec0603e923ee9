import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { request, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConvokeClient } from "@convoke/client";
import type { ConversationInfo, Event, StartConversationRequest } from "@convoke/protocol";
import { createInProcessHost, type Tool, type ToolSet } from "@convoke/tool-host";
import { readConfig, type ServerConfig } from "../boot/config.ts";
import type { Demo } from "../directory/demo.ts";
import { mcpTimes, type McpTimes } from "../extensions/mcp/mcp-connection.ts";
import { socketTimes, type SocketTimes } from "../faces/agent-server/sockets/socket-times.ts";
import type { Journal } from "../journal/journal.ts";
import type { Logger } from "../lib/logger.ts";
import type { Model } from "../models/model.ts";
import { openServer, type Server, type ServerDeps } from "../boot/open-server.ts";
import { checkReplays } from "./check-replays.ts";
import { takeWriterThread } from "./pooled-writers.ts";
import { placeFreshTables } from "./fresh-tables.ts";
import { createQuickTools, type QuickTools } from "./quick-tools.ts";
import type { OpenToolSource } from "../tools/tool-source.ts";
import type { Script } from "./scripted-model/script.ts";
import { startScriptedModel, type ScriptedModelServer } from "./scripted-model/scripted-model-server.ts";
import { openTestKeys, type TestKeys } from "./test-keys.ts";
import { readTestedStore } from "./tested-store.ts";
import { pause } from "./until.ts";

export type TestServerOptions = {
  /** Wraps the journal, e.g. to make it fail at a chosen moment. */
  readonly wrapJournal?: (journal: Journal) => Journal;
  /** Wraps every model that the server opens, e.g. to hold its answers. */
  readonly wrapModel?: (model: Model) => Model;
  /** Script of the model; without it every answer is the end of an empty script. */
  readonly script?: Script;
  /** Replaces the quick tools, e.g. `defaultTools()` in `.int.test.ts`. */
  readonly tools?: readonly (Tool | ToolSet)[];
  /** Environment for children of tools. */
  readonly environment?: Readonly<Record<string, string>>;
  /** For a data folder that the test damaged: logs are not replayed at the end. */
  readonly isDamaged?: true;
  /** Overrides of the defaults: a free port on 127.0.0.1, everything in the test's own folder, one configured key. */
  readonly config?: Partial<ServerConfig>;
  /** Overrides of the documented timeouts of sockets. */
  readonly times?: Partial<SocketTimes>;
  /** A server like that of `convoke run`. */
  readonly isAttended?: true;
  /** Without it there is none. */
  readonly demo?: Demo;
  /** Without it there are none. */
  readonly openSandboxes?: ServerDeps["openSandboxes"];
  /** Without it conversations have no walls. */
  readonly openWalls?: ServerDeps["openWalls"];
  /** How git reaches hosts for users; as this machine does unless given. */
  readonly git?: ServerDeps["git"];
  /** In addition to the server's own. */
  readonly toolSources?: readonly OpenToolSource[];
  /** Overrides of the documented timeouts of MCP servers. */
  readonly mcp?: { readonly times?: Partial<McpTimes>; readonly firstWaitMs?: number };
};

/** A log line of the server. */
export type LogLine = {
  readonly level: "info" | "warn" | "error";
  readonly message: string;
  readonly fields: object;
};

type Start = Partial<StartConversationRequest> & { readonly text?: string };

/** A whole server on a free port in its own folder, with a scripted model; everything is removed on disposal. */
export class TestServer implements AsyncDisposable {
  readonly key = "test-session-key";
  /** Contains `data` and `work`. */
  readonly folder: string;
  readonly model: ScriptedModelServer;
  readonly quickTools: QuickTools;
  readonly log: LogLine[] = [];
  readonly #options: TestServerOptions;
  #config: Partial<ServerConfig>;
  readonly #store: Partial<ServerConfig>;
  #server: Server | null = null;
  #journal: Journal | null = null;
  #url = "";

  private constructor(
    options: TestServerOptions,
    folder: string,
    model: ScriptedModelServer,
    store: Partial<ServerConfig>,
  ) {
    this.#options = options;
    this.#config = options.config ?? {};
    this.#store = store;
    this.folder = folder;
    this.model = model;
    this.quickTools = createQuickTools();
  }

  static async start(options: TestServerOptions): Promise<TestServer> {
    const folder = await mkdtemp(join(tmpdir(), "convoke-server-"));
    await mkdir(join(folder, "work"));
    const model = await startScriptedModel({ script: options.script ?? { turns: [] } });
    const server = new TestServer(options, folder, model, await readTestedStore());
    await server.#open(0);
    return server;
  }

  /** `http://127.0.0.1:port`; the same after a restart. */
  get url(): string {
    return this.#url;
  }

  get dataDir(): string {
    return join(this.folder, "data");
  }

  get workspaceDir(): string {
    return join(this.folder, "work");
  }

  get client(): ConvokeClient {
    return new ConvokeClient({ baseUrl: this.#url, apiKey: this.key });
  }

  /** Closes the server normally, and reopens it on the same data, optionally with other settings. */
  async restart(config: Partial<ServerConfig> = {}): Promise<void> {
    await this.close();
    this.#config = { ...this.#config, ...config };
    await this.#open(Number(new URL(this.#url).port));
  }

  async close(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    try {
      const isReplayed = server !== null && this.#options.isDamaged !== true;
      if (isReplayed && this.#journal !== null) await checkReplays(this.#journal);
    } finally {
      await server?.[Symbol.asyncDispose]();
    }
  }

  /** See {@link openTestKeys}. */
  async openKeys(): Promise<TestKeys> {
    return await openTestKeys(
      this.dataDir,
      this.#config.database ?? this.#store.database ?? null,
      async (key) => {
        const headers = { "X-Session-API-Key": key };
        return (await this.call("GET", "/api/conversations/count", undefined, headers)).status === 200;
      },
    );
  }

  /** A request with the key; `path` begins with a slash, `body` is sent as JSON. */
  async call(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Reply> {
    const reply = await fetch(`${this.#url}${path}`, {
      method,
      headers: {
        "X-Session-API-Key": this.key,
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return await readReply(reply);
  }

  /** A GET with a JSON body, which `fetch` cannot send. */
  async getWithBody(path: string, body: unknown): Promise<Reply> {
    const text = JSON.stringify(body);
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const headers = {
        "x-session-api-key": this.key,
        "content-type": "application/json",
        "content-length": Buffer.byteLength(text),
      };
      request(`${this.#url}${path}`, { method: "GET", headers }, resolve).once("error", reject).end(text);
    });
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    const headers = new Headers(
      Object.entries(response.headers).map(([name, value]) => [name, String(value)]),
    );
    return toReply(response.statusCode ?? 0, headers, Buffer.concat(chunks).toString("utf8"));
  }

  /** A create request with the scripted model and the quick tools; `text` becomes an initial message that runs. */
  startRequest({ text, ...rest }: Start = {}): StartConversationRequest {
    return {
      agent: {
        kind: "Agent",
        llm: {
          model: "openai/scripted",
          base_url: `${this.model.url}/v1`,
          api_key: "llm-key",
          num_retries: 0,
        },
        tools: [{ name: "terminal" }, { name: "grep" }].filter(({ name }) => this.#hasTool(name)),
      },
      workspace: { kind: "LocalWorkspace", working_dir: this.workspaceDir },
      ...(text === undefined ? {} : { initial_message: { content: [{ type: "text", text }], run: true } }),
      ...rest,
    };
  }

  async createConversation(start: Start = {}): Promise<ConversationInfo> {
    return await this.client.startConversation(this.startRequest(start));
  }

  /** Creates a conversation, sends `text` and resolves once the run has reached `status`. */
  async runTo(status: string, text: string, start: Start = {}): Promise<string> {
    const { id } = await this.createConversation({ text, ...start });
    await this.waitForStatus(id, status);
    return id;
  }

  /** Resolves when the conversation has this status; rejects after `timeoutMs`. */
  async waitForStatus(id: string, status: string, timeoutMs = 60_000): Promise<ConversationInfo> {
    const startMs = performance.now();
    for (;;) {
      const info = await this.client.getConversation(id);
      if (info.execution_status === status) return info;
      if (performance.now() - startMs > timeoutMs) {
        throw new Error(`Conversation ${id} is ${info.execution_status} and did not become ${status}.`);
      }
      await pause(startMs);
    }
  }

  /** The whole log, page by page. */
  async events(id: string): Promise<Event[]> {
    return await Array.fromAsync(this.client.events(id));
  }

  /** The log's first page, each event as JSON. */
  async eventTexts(id: string): Promise<string[]> {
    const { text } = await this.call("GET", `/api/conversations/${id}/events/search`);
    const { items } = JSON.parse(text) as { items: object[] };
    return items.map((item) => JSON.stringify(item));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.quickTools.release();
    await this.close();
    await this.model[Symbol.asyncDispose]();
    await rm(this.folder, { recursive: true, force: true });
  }

  async #open(port: number): Promise<void> {
    const given = { ...this.#store, ...this.#config };
    if (given.dataDir === undefined && (given.database ?? null) === null)
      await placeFreshTables(this.dataDir);
    this.#server = await openServer({
      config: {
        ...readConfig(
          {},
          { host: "127.0.0.1", port, dataDir: this.dataDir, workspaceRoot: this.workspaceDir },
        ),
        sessionApiKeys: [this.key],
        ...given,
      },
      toolHost: createInProcessHost({
        tools: this.#options.tools ?? this.quickTools.tools,
        environment: this.#options.environment ?? {},
        cancelGraceMs: 200,
      }),
      logger: this.#logger(),
      moreToolSources: this.#options.toolSources ?? [],
      isAttended: this.#options.isAttended,
      // Of all servers of a test file, and of all files before it.
      sharesProcess: true,
      writerThread: (given.database ?? null) === null ? takeWriterThread() : undefined,
      openSandboxes: this.#options.openSandboxes,
      openWalls: this.#options.openWalls,
      git: this.#options.git,
      demo: this.#options.demo,
      environment: this.#options.environment ?? {},
      times: { ...socketTimes, ...this.#options.times },
      mcp: { ...this.#options.mcp, times: { ...mcpTimes, ...this.#options.mcp?.times } },
      wrap: {
        journal: (journal) => {
          this.#journal = journal;
          return this.#options.wrapJournal?.(journal) ?? journal;
        },
        model: (model) => this.#options.wrapModel?.(model) ?? model,
      },
    });
    this.#url = this.#server.url;
  }

  #hasTool(name: string): boolean {
    return (this.#options.tools ?? this.quickTools.tools).some((tool) => tool.name === name);
  }

  #logger(): Logger {
    const write =
      (level: LogLine["level"]) =>
      (fields: object, message: string): void => {
        this.log.push({ level, message, fields });
      };
    return { info: write("info"), warn: write("warn"), error: write("error") };
  }
}

export type Reply = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; undefined when it is not JSON. */
  readonly json: unknown;
};

async function readReply(reply: Response): Promise<Reply> {
  return toReply(reply.status, reply.headers, await reply.text());
}

export function toReply(status: number, headers: Headers, text: string): Reply {
  const isJson = headers.get("content-type")?.startsWith("application/json") === true && text !== "";
  return { status, headers, text, json: isJson ? JSON.parse(text) : undefined };
}

/** `await using server = await startTestServer({ script })`. */
export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  return await TestServer.start(options);
}
