import { noCallListener } from "../http/observe-requests.ts";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import type { InitRequest, InitStatus, ServerInfo } from "@convoke/protocol";
import { createValidator } from "@convoke/protocol/validate";
import type { FastifyInstance } from "fastify";
import { ConfigError, type ServerConfig } from "./config.ts";
import type { CompletedConfig } from "./config-init.ts";
import { createGuard } from "../http/guard.ts";
import { readHealth } from "../http/health.ts";
import { mountInit } from "../http/mount-init.ts";
import { openHttp } from "../http/open-http.ts";
import { serverInfo } from "../http/server-info.ts";
import { Fault } from "../lib/fault.ts";
import type { Logger } from "../lib/logger.ts";
import { addressOf } from "../http/server-address.ts";
import type { Server, TakeOver } from "./open-server.ts";

export type DeferredServerDeps = {
  /** The configuration as far as it is known: the listening address and the key for `POST /api/init`. */
  readonly config: ServerConfig;
  readonly initKey: string;
  readonly logger: Logger;
  /** Throws a Fault for an unusable configuration. */
  readonly complete: (request: InitRequest) => CompletedConfig;
  readonly open: (completed: CompletedConfig, takeOver: TakeOver) => Promise<Server>;
};

export interface DeferredServer extends AsyncDisposable {
  /** The same before and after the configuration has arrived. */
  readonly url: string;
}

/** Listens without a configuration until `POST /api/init` brings it, then opens the server and gives the port to it. */
export async function openDeferredServer(deps: DeferredServerDeps): Promise<DeferredServer> {
  return await ConfigurationListener.open(deps);
}

class ConfigurationListener implements DeferredServer {
  readonly #deps: DeferredServerDeps;
  readonly #app: FastifyInstance;
  readonly #validator = createValidator();
  #status: InitStatus = { state: "dormant", error: null };
  #opening: Promise<Server> | null = null;
  #port: number;
  #isClosed = false;

  private constructor(deps: DeferredServerDeps, app: FastifyInstance) {
    this.#deps = deps;
    this.#app = app;
    this.#port = deps.config.port;
  }

  static async open(deps: DeferredServerDeps): Promise<ConfigurationListener> {
    const { config, logger } = deps;
    const guard = createGuard({
      boundHost: config.host,
      allowedHosts: config.allowedHosts,
      allowedOrigins: config.allowedOrigins,
      isKeyless: config.isAuthDisabled,
    });
    const app = await openHttp({
      guard,
      logger,
      calls: noCallListener,
      trustedProxies: config.trustedProxies,
    });
    const listener = new ConfigurationListener(deps, app);
    listener.#mount();
    try {
      await app.ready();
      await listener.#listen();
    } catch (error) {
      await app.close();
      throw error;
    }
    return listener;
  }

  get url(): string {
    return addressOf({ ...(this.#app.server.address() as AddressInfo), port: this.#port });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#app.server.close();
    try {
      // The failure was already reported to the sender of the configuration.
      const server = await this.#opening?.catch(() => null);
      await server?.[Symbol.asyncDispose]();
    } finally {
      this.#app.server.closeAllConnections();
      await this.#app.close();
    }
  }

  #mount(): void {
    const app = this.#app;
    // Clients reconnect, and reach the configured server as soon as it listens.
    app.addHook("onSend", async (_request, reply) => void reply.header("connection", "close"));
    for (const url of ["/alive", "/health"]) {
      app.get(url, ({ headers }, reply) => {
        const { contentType, text } = readHealth(headers);
        return reply.type(contentType).send(text);
      });
    }
    app.get("/server_info", () => this.#info());
    app.get("/ready", () => ({ status: "ready" }));
    this.#mountInit(app);
    app.route({
      method: ["GET", "POST", "PUT", "PATCH", "DELETE"],
      url: "/*",
      onRequest: async () => {
        throw notInitialized();
      },
      handler: () => {
        throw notInitialized();
      },
    });
  }

  /** What may be public about the server before it has its keys. */
  #info(): ServerInfo {
    const seconds = Math.floor(performance.now() / 1000);
    return serverInfo({ uptime: seconds, idleTime: seconds, tools: [] });
  }

  #mountInit(app: FastifyInstance): void {
    mountInit(app, {
      initKey: this.#deps.initKey,
      validator: this.#validator,
      initialization: { status: () => this.#status, begin: (request) => this.#begin(request) },
    });
  }

  async #begin(request: InitRequest): Promise<string | null> {
    if (this.#isClosed) throw notInitialized();
    const { config, ...rest } = this.#deps.complete(request);
    this.#status = { state: "initializing", error: null };
    const takeOver: TakeOver = {
      mount: (app) => this.#mountInit(app),
      // Stops accepting connections at once; the connection that waits for its answer stays open.
      freePort: () => void this.#app.server.close(),
    };
    const completed = { ...rest, config: { ...config, port: this.#port } };
    this.#opening = this.#deps.open(completed, takeOver);
    try {
      const { sessionKey } = await this.#opening;
      this.#status = { state: "ready", error: null };
      return sessionKey === null || sessionKey.file === null ? null : ownKeyNeeded(sessionKey.file);
    } catch (error) {
      return await this.#sleepAgain(error);
    }
  }

  async #sleepAgain(error: unknown): Promise<never> {
    this.#opening = null;
    const sentence =
      error instanceof ConfigError
        ? error.message
        : "The server could not be opened. Its log says why; send the configuration again.";
    this.#deps.logger.error(
      { error: String(error) },
      "the server could not be opened with the received configuration",
    );
    if (!this.#app.server.listening && !this.#isClosed) await this.#listen();
    this.#status = { state: "dormant", error: sentence };
    throw new Fault("bug", "init_failed", sentence);
  }

  async #listen(): Promise<void> {
    const { server } = this.#app;
    server.listen({ host: this.#deps.config.host, port: this.#port });
    await once(server, "listening");
    this.#port = (server.address() as AddressInfo).port;
  }
}

function notInitialized(): Fault {
  const msg = "The server waits for its configuration. Send it to POST /api/init.";
  return new Fault("not-now", "not_initialized", msg);
}

/** Knowing the configuration does not give anyone the key that the data folder generated. */
function ownKeyNeeded(file: string): string {
  return (
    `No session_api_keys came: requests need the key in ${file}, everything else is a 401. ` +
    "Restart and send session_api_keys, or start with --no-auth where nobody needs a key."
  );
}
