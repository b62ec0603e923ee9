import type { AcpOptions } from "@convoke/protocol";
import type { ClientApp, ContentBlock } from "@agentclientprotocol/sdk";
import type { ToolHost } from "@convoke/tool-host";
import { describeError } from "../../lib/describe-error.ts";
import { orAborted } from "../../lib/or-aborted.ts";
import { wait } from "../../lib/wait.ts";
import type { McpServer } from "../mcp/mcp-server.ts";
import { openAcpConnection, type AcpConnection } from "./acp-connection.ts";
import { AcpFailure, toAcpFailure, agentFailure, type AcpFailureCode } from "./acp-failure.ts";
import { readModels, type AcpModels } from "./acp-models.ts";
import { toAcpServers } from "./acp-servers.ts";
import { ClientFiles, type AgentFiles } from "./client-files.ts";
import { ClientTerminals } from "./client-terminals.ts";
import type { AcpSession, ExternalAgent, PromptEnd, PromptListener } from "./external-agent.ts";
import { Permissions } from "./permissions.ts";

export type AcpAgentDeps = {
  /** Program and arguments; not empty. */
  readonly command: readonly string[];
  /** As they are when a session is opened. */
  readonly options: () => AcpOptions;
  readonly toolHost: Pick<ToolHost, "startProcess">;
  /** Absolute, on the tool host's machine. */
  readonly workspaceDir: string;
  /** Null where the server cannot reach them: then the agent reads and writes them itself. */
  readonly files: AgentFiles | null;
  /** The environment of the program, with the conversation's secrets. */
  readonly environment: (signal: AbortSignal) => Promise<Readonly<Record<string, string>>>;
  readonly servers: (signal: AbortSignal) => Promise<readonly McpServer[]>;
  readonly clientVersion: string;
};

type Open = { readonly connection: AcpConnection; readonly session: AcpSession };

/** One agent that is spoken to by the Agent Client Protocol, and its one session. */
export class AcpAgent implements ExternalAgent {
  readonly command: string;
  readonly permissions = new Permissions();
  readonly #deps: AcpAgentDeps;
  readonly #files: ClientFiles | null;
  readonly #terminals: ClientTerminals;
  #open: Open | null = null;
  #opening: Promise<AcpSession> | null = null;
  #listener: PromptListener | null = null;

  constructor(deps: AcpAgentDeps) {
    this.#deps = deps;
    this.command = deps.command.join(" ");
    this.#files = deps.files === null ? null : new ClientFiles(deps.files, deps.workspaceDir);
    this.#terminals = new ClientTerminals(deps);
  }

  get takesImages(): boolean {
    return this.#open?.connection.info.agentCapabilities?.promptCapabilities?.image === true;
  }

  async openSession(known: string | null, signal: AbortSignal, model?: string): Promise<AcpSession> {
    if (this.#open !== null) return this.#open.session;
    this.#opening ??= this.#start({ known, model }, signal).finally(() => (this.#opening = null));
    return await orAborted(this.#opening, signal);
  }

  async #start(wanted: Wanted, signal: AbortSignal): Promise<AcpSession> {
    const { startupTimeoutMs } = this.#times;
    const connection = await openAcpConnection(
      {
        command: this.command,
        start: await this.#starter(signal),
        serve: (app) => this.#serve(app),
        capabilities: {
          terminal: true,
          ...(this.#files === null ? {} : { fs: { readTextFile: true, writeTextFile: true } }),
        },
        clientVersion: this.#deps.clientVersion,
        startupTimeoutMs,
      },
      signal,
    );
    const late = AbortSignal.timeout(startupTimeoutMs);
    try {
      const task = this.#beginSession(connection, wanted, await this.#deps.servers(signal));
      const session = await orAborted(
        this.#orLost(connection, task, "ACPInitError"),
        AbortSignal.any([signal, late]),
      );
      this.#open = { connection, session };
      void connection.lost.then(() => this.#forget(connection));
      return session;
    } catch (error) {
      await connection.close();
      if (late.aborted && !signal.aborted)
        throw agentFailure(
          "ACPInitError",
          this.command,
          `opened no session within ${startupTimeoutMs / 1000} s (acp_startup_timeout). Send a message to try again.`,
          error,
        );
      throw signal.aborted ? error : this.#failure(error, "ACPInitError", connection);
    }
  }

  async prompt(content: readonly ContentBlock[], listener: PromptListener): Promise<PromptEnd> {
    const { connection, session } = this.#required();
    this.#listener = listener;
    try {
      const request = connection.agent.request("session/prompt", {
        sessionId: session.id,
        prompt: [...content],
      });
      const reply = await this.#orLost(connection, request, "ACPPromptError");
      // Updates before the reply are handed on first.
      await new Promise((resolve) => setImmediate(resolve));
      return { stopReason: reply.stopReason, usage: (reply as { usage?: unknown }).usage };
    } catch (error) {
      throw this.#failure(error, "ACPPromptError", connection);
    } finally {
      this.#listener = null;
      this.permissions.cancelAll();
      await this.#terminals.endAll();
    }
  }

  async cancel(): Promise<void> {
    this.permissions.cancelAll();
    const open = this.#open;
    // An agent that is gone has ended its prompt.
    await open?.connection.agent.notify("session/cancel", { sessionId: open.session.id }).catch(() => {});
  }

  async stop(): Promise<void> {
    const open = this.#open;
    this.#open = null;
    this.permissions.cancelAll();
    await this.#terminals.endAll();
    await open?.connection.close();
  }

  async setModel(model: string, signal: AbortSignal): Promise<AcpModels> {
    const { connection, session } = this.#required();
    const models = await this.#chooseModel(connection, session, model, signal);
    this.#open = { connection, session: { ...session, models } };
    return models;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  get #times(): { readonly startupTimeoutMs: number } {
    return { startupTimeoutMs: (this.#deps.options().acp_startup_timeout ?? 90) * 1000 };
  }

  async #starter(signal: AbortSignal) {
    const { command, environment, toolHost, workspaceDir } = this.#deps;
    const [program = "", ...args] = command;
    const own = { ...(await environment(signal)), ...this.#deps.options().acp_env };
    return () =>
      toolHost.startProcess({ command: program, args, environment: own, workingDir: workspaceDir });
  }

  #serve(app: ClientApp): void {
    const listener = (): PromptListener => {
      if (this.#listener === null) throw new Error("There is no prompt that this belongs to.");
      return this.#listener;
    };
    // What a session tells while it is loaded is in the log already.
    app.onNotification("session/update", ({ params }) => this.#listener?.onUpdate(params.update));
    app.onRequest("session/request_permission", async ({ params }) => ({
      outcome: await (this.#listener?.onPermission(params) ?? { outcome: "cancelled" as const }),
    }));
    this.#files?.serve(app, listener);
    this.#terminals.serve(app, listener);
  }

  /** The session that goes on, or a new one, with the mode and model of the options. */
  async #beginSession(
    connection: AcpConnection,
    { known, model: wanted }: Wanted,
    servers: readonly McpServer[],
  ): Promise<AcpSession> {
    const { agent, info } = connection;
    const { agentCapabilities: abilities = {}, agentInfo } = info;
    const { given, left } = toAcpServers(servers, abilities.mcpCapabilities ?? {});
    const place = { cwd: this.#deps.workspaceDir, mcpServers: given };
    const went = known === null ? null : await this.#goOn(connection, known, place);
    const isNew = typeof went === "string" || went === null;
    const reply: { readonly sessionId: string } = isNew
      ? await agent.request("session/new", place)
      : { ...went, sessionId: known! };
    const session = {
      id: reply.sessionId,
      isNew,
      lost: typeof went === "string" ? went : null,
      models: readModels(reply),
      agentName: agentInfo?.title ?? agentInfo?.name ?? null,
      agentVersion: agentInfo?.version ?? null,
      leftServers: left,
    };
    const { acp_model: usual, acp_session_mode: mode } = this.#deps.options();
    const model = wanted ?? usual;
    if (mode) await agent.request("session/set_mode", { sessionId: session.id, modeId: mode });
    if (!model || model === session.models.current) return session;
    return { ...session, models: await this.#chooseModel(connection, session, model, never) };
  }

  /** What the agent replies where it still has the session, else why it does not go on. */
  async #goOn(connection: AcpConnection, sessionId: string, place: Place): Promise<object | string> {
    const { agentCapabilities: abilities = {} } = connection.info;
    const canResume = (abilities.sessionCapabilities?.resume ?? null) !== null;
    if (!canResume && abilities.loadSession !== true) return "it cannot go on with a session after its end";
    try {
      const method = canResume ? "session/resume" : "session/load";
      return await connection.agent.request<object, object>(method as string, { sessionId, ...place });
    } catch (error) {
      return `it answered: ${describeError(error)}`.slice(0, 500);
    }
  }

  async #chooseModel(
    connection: AcpConnection,
    { id, models }: Pick<AcpSession, "id" | "models">,
    model: string,
    signal: AbortSignal,
  ): Promise<AcpModels> {
    const { by, available } = models;
    const names = available.map((one) => one.model_id);
    const refused = agentFailure.bind(null, "ACPModelError", this.command);
    if (by === null) throw refused("lets no model be chosen.");
    if (names.length > 0 && !names.includes(model))
      throw refused(`has no model ${model}. It has: ${names.slice(0, 40).join(", ")}.`);
    const [method, chosen] =
      by === "set_model"
        ? ["session/set_model", { modelId: model }]
        : ["session/set_config_option", { configId: by.option, value: model }];
    const request = connection.agent.request<unknown, object>(method, { sessionId: id, ...chosen });
    const reply = await orAborted(this.#orLost(connection, request, "ACPModelError"), signal);
    const now = readModels(reply);
    return now.by === null ? { ...models, current: model } : now;
  }

  async #orLost<Result>(
    { lost }: AcpConnection,
    task: Promise<Result>,
    code: AcpFailureCode,
  ): Promise<Result> {
    const ended = lost.then((reason): never => {
      throw agentFailure(code, this.command, `has ended: ${reason} Send a message to start it again.`);
    });
    // The loser of the race is no longer awaited.
    ended.catch(() => {});
    try {
      return await Promise.race([task, ended]);
    } catch (error) {
      if (error instanceof AcpFailure) throw error;
      // A connection that closes fails the request first, and says why right after that.
      await Promise.race([ended, wait(lastWordsMs, never)]);
      throw error;
    }
  }

  #failure(error: unknown, code: AcpFailureCode, { info }: AcpConnection): AcpFailure {
    const methods = (info.authMethods ?? []).map(({ name }) => name);
    return toAcpFailure(error, code, { command: this.command, methods });
  }

  #required(): Open {
    if (this.#open === null)
      throw agentFailure("ACPPromptError", this.command, "has ended. Send a message to start it again.");
    return this.#open;
  }

  #forget(connection: AcpConnection): void {
    if (this.#open?.connection === connection) this.#open = null;
    void connection.close();
  }
}

type Wanted = { readonly known: string | null; readonly model: string | undefined };

type Place = { readonly cwd: string; readonly mcpServers: ReturnType<typeof toAcpServers>["given"] };

const lastWordsMs = 50;
const never = new AbortController().signal;
