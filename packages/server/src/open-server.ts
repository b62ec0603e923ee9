import type { AddressInfo } from "node:net";
import { agentServerInterface, writeOpenApi, type LLM } from "@convoke/protocol";
import { createValidator } from "@convoke/protocol/validate";
import type { ToolHost } from "@convoke/tool-host";
import type { FastifyInstance } from "fastify";
import { openAppConversations } from "./app-conversations/open-app-conversations.ts";
import type { Sandboxes } from "./app-conversations/sandbox-service.ts";
import type { ServerConfig } from "./config.ts";
import { ConfigError } from "./config.ts";
import { estimatedWhenAborted } from "./conversation/run/aborted-call.ts";
import { toConversationInfo } from "./conversation/state/describe.ts";
import { Directory } from "./conversation/directory.ts";
import { Ledger } from "./spending/ledger.ts";
import type { McpAccess } from "./conversation/run/mcp-tools.ts";
import { Purse } from "./spending/purse.ts";
import { openApplicationDatabase } from "./database/application-database.ts";
import { DataFolderBusyError, lockDataFolder } from "./database/data-folder-lock.ts";
import { docsPage } from "./faces/agent-server/docs-page.ts";
import { mountBashSocket } from "./faces/agent-server/sockets/bash-socket.ts";
import { mountEventSocket } from "./faces/agent-server/sockets/event-socket.ts";
import { socketTimes, type SocketTimes } from "./faces/agent-server/sockets/socket-times.ts";
import { mountGateway } from "./faces/gateway/mount-gateway.ts";
import { refuseGateway } from "./faces/gateway/refuse-gateway.ts";
import { isPortCapability } from "./faces/gateway/port-path.ts";
import { createCookieReader } from "./faces/agent-server/workspace/workspace-cookie.ts";
import { openFaces, type FacesDeps } from "./faces/open-faces.ts";
import { createKeyRing } from "./http/auth.ts";
import { createGuard, isLoopback } from "./http/guard.ts";
import { createAuthenticator, openHttp } from "./http/open-http.ts";
import { openSessionKey, readSessionKey, type SessionKey } from "./http/session-key.ts";
import { openJournal } from "./journal/open-journal.ts";
import type { Journal } from "./journal/journal.ts";
import { Fault } from "./lib/fault.ts";
import type { Logger } from "./lib/logger.ts";
import { makeDirectory } from "./lib/make-directory.ts";
import type { Model } from "./models/model.ts";
import { openModel } from "./models/open-model.ts";
import { watchAppends } from "./observability/watch-appends.ts";
import { watchModel } from "./observability/watch-model.ts";
import { openObservability } from "./open-observability.ts";
import { openMasterKey } from "./security/master-key.ts";
import type { SecretBox } from "./security/seal.ts";
import { KeyBook } from "./settings/key-book.ts";
import { openSkillAccess } from "./conversation/sessions/session-skills.ts";
import { McpLogins } from "./settings/mcp-logins.ts";
import { SealedValues } from "./settings/sealed-values.ts";
import { SecretStore } from "./settings/secret-store.ts";
import { SettingsStore } from "./settings/settings-store.ts";
import { findStoredModel } from "./settings/stored-models.ts";
import { version } from "./lib/version.ts";
import { wait } from "./lib/wait.ts";
import { watchJournal } from "./webhooks/watch-journal.ts";
import { Webhooks } from "./webhooks/webhooks.ts";
import { Machine } from "./workspaces/machine.ts";
import { SavedWorkspaces } from "./workspaces/saved-workspaces.ts";
import { WorkspaceSessions } from "./workspaces/workspace-session.ts";

export type ServerDeps = {
  readonly config: ServerConfig;
  /** Owned by the server from here on. */
  readonly toolHost: ToolHost;
  readonly logger: Logger;
  /** The allow-listed environment that commands and git on this machine start with; empty unless given. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Opens the sandboxes; null, like leaving it out, serves none. Owned by the server from there on. */
  readonly openSandboxes?: (shared: SharedWithSandboxes) => Promise<Sandboxes | null>;
  /** Instead of the documented ones. */
  readonly times?: SocketTimes;
  /** Waiting times for MCP servers, instead of the documented ones. */
  readonly mcp?: Pick<McpAccess, "times" | "firstWaitMs">;
  /** Wraps what the server opens, e.g. to make it fail at a chosen moment. */
  readonly wrap?: Wrap;
  /** For a server that goes on where a dormant one ends. */
  readonly takeOver?: TakeOver;
};

type Wrap = {
  readonly journal: (journal: Journal) => Journal;
  readonly model: (model: Model) => Model;
};

/** What a dormant server hands to the one that takes its place. */
export type TakeOver = {
  readonly mount: (app: FastifyInstance) => void;
  /** Called when everything is open, right before the port is taken. */
  readonly freePort: () => void;
};

export type SharedWithSandboxes = Pick<ServerDeps, "config" | "logger"> & {
  readonly secretBox: SecretBox;
  readonly nowMs: () => number;
};

export interface Server extends AsyncDisposable {
  /** `http://host:port` that a client on this machine can use. */
  readonly url: string;
  /** The key that clients need: configured or the data folder's own; null with `--no-auth`. */
  readonly sessionKey: SessionKey | { readonly key: string; readonly file: null } | null;
}

/** An idle conversation leaves at most half its idle time late, and within half a minute. */
function sweepEveryMs(idleSeconds: number): number {
  return Math.min(30_000, Math.max(100, idleSeconds * 500));
}

/** How often a server looks for runs of others on the same data folder that have ended. */
const takeUpEveryMs = 1000;

/** Opens everything, takes up the runs that the last process left, and listens. Rejects with {@link ConfigError} on unsafe settings. */
export async function openServer({
  config,
  toolHost,
  logger: plainLogger,
  environment = {},
  openSandboxes = async () => null,
  times = socketTimes,
  mcp = {},
  wrap = { journal: (journal) => journal, model: (model) => model },
  takeOver,
}: ServerDeps): Promise<Server> {
  await using scope = new AsyncDisposableStack();
  scope.use(toolHost);
  await makeDataDir(config.dataDir);
  scope.use(shareDataFolder(config.dataDir));
  const sessionKey = await chooseKey(config);
  const observability = scope.use(await openObservability(config, plainLogger));
  const { observer, logger } = observability;
  // The journal starts a thread; meanwhile this one opens what needs no journal.
  const opening = openJournal({ dataDir: config.dataDir });
  // Whether it failed is told where it is awaited.
  const opened = opening.catch(() => null);
  scope.defer(async () => {
    await (await opened)?.[Symbol.asyncDispose]();
  });
  const database = scope.use(await openApplicationDatabase(config.dataDir));
  const secretBox = await openMasterKey(config.dataDir, config.masterSecret);
  const sandboxes = await openSandboxes({ config, logger, secretBox, nowMs: Date.now });
  if (sandboxes !== null) scope.use(sandboxes);
  const validator = createValidator();
  let lastActivityMs = Date.now();
  const guard = createGuard({
    boundHost: config.host,
    allowedHosts: config.allowedHosts,
    allowedOrigins: config.allowedOrigins,
  });
  const app = await openHttp({
    guard,
    logger,
    onActivity: () => (lastActivityMs = Date.now()),
    trustedProxies: config.trustedProxies,
    webUrl: config.webUrl,
    isForEveryOrigin: isPortCapability,
    observer,
    onCall: (call) => observability.onCall(call),
  });
  const webhooks = scope.use(
    new Webhooks({
      hooks: config.webhooks,
      database,
      journal: await opening,
      describe: (id) => describeForHooks(id),
      nowMs: Date.now,
      wait,
      logger,
    }),
  );
  const watched = config.webhooks.length === 0 ? await opening : watchJournal(await opening, webhooks);
  const journal = watchAppends(wrap.journal(watched), observer);
  const settings = new SettingsStore({ database, secretBox, nowMs: Date.now });
  const openOurModel = (llm: LLM, ownerId: string): Model =>
    watchModel(
      estimatedWhenAborted(
        wrap.model(openModel(llm, { findProfile: findStoredModel(settings, ownerId) })),
        llm,
      ),
      observer,
    );
  const skills = openSkillAccess(config);
  const purse = new Purse(
    new Ledger({ database, maxPerDay: config.maxBudgetPerUserPerDay, nowMs: Date.now, logger }),
  );
  const mcpLogins = new McpLogins({ database, secretBox, nowMs: Date.now });
  const directory = scope.use(
    new Directory({
      journal,
      findModel: (ownerId, name) => findStoredModel(settings, ownerId)(name),
      chooseHost: async ({ sandbox_id: sandboxId }) => {
        if (sandboxId === undefined) return { toolHost, stateDir: null };
        if (sandboxes === null) throw sandboxesElsewhere();
        return await sandboxes.openHost(sandboxId);
      },
      secretBox,
      openModel: ({ agent }, secrets, ownerId) => openOurModel({ ...agent.llm, ...secrets.llm }, ownerId),
      validator,
      skills,
      purse,
      mcp: { fetch, clientVersion: version, logins: mcpLogins, ...mcp },
      dataDir: config.dataDir,
      workspaceRoot: config.workspaceRoot,
      nowMs: Date.now,
      logger,
      observer,
    }),
  );
  const appConversations = scope.use(
    openAppConversations({ database, secretBox, directory, journal, sandboxes, nowMs: Date.now, logger }),
  );
  const describeForHooks = async (id: string): Promise<string | null> => {
    const owner = (await journal.getConversation(id))?.ownerId;
    const described = owner === undefined ? null : await directory.describe({ userId: owner }, id);
    return described === null ? null : JSON.stringify(toConversationInfo(described));
  };
  let isReady = false;
  const keyBook = scope.use(new KeyBook({ database, nowMs: Date.now, logger }));
  const keys = createKeyRing(sessionKey === null ? [] : [sessionKey.key, ...config.sessionApiKeys], keyBook);
  scope.defer(() => app.close());
  const secrets = new SecretStore({ database, secretBox, nowMs: Date.now });
  const machine = scope.use(
    new Machine({
      environment,
      dataDir: config.dataDir,
      workspaceRoot: config.workspaceRoot,
      users: config.machineUsers,
      bashKeptMs: config.bashRetentionSeconds === null ? null : config.bashRetentionSeconds * 1_000,
      ownKeys: sessionKey === null ? [] : [sessionKey.key, ...config.sessionApiKeys],
      userSecrets: (userId) => secrets.values(userId),
    }),
  );
  const sessions = new WorkspaceSessions({ secretBox, nowMs: Date.now });
  const mountDeps = {
    validator,
    authenticate: createAuthenticator(keys),
    authenticateCookie: createCookieReader(sessions, keys),
  };
  const facesDeps: FacesDeps = {
    journal,
    directory,
    ledger: purse.ledger,
    approvalDefault: config.approvalDefault,
    toolHost,
    settings,
    secrets,
    mcpLogins,
    sealedValues: new SealedValues(secretBox),
    skills,
    validator,
    openModel: (llm) => watchModel(wrap.model(openModel(llm)), observer),
    sandboxes,
    appConversations,
    nowMs: Date.now,
    openAccess: machine.openAccess,
    openFiles: async ({ sandbox_id: sandboxId }, root) => {
      if (sandboxId === undefined) return machine.openDirectory(root);
      if (sandboxes === null) throw sandboxesElsewhere();
      return (await sandboxes.openHost(sandboxId)).toolHost.workspace;
    },
    uploadLimitBytes: config.uploadLimitBytes,
    userSecrets: (userId) => secrets.values(userId),
    savedWorkspaces: new SavedWorkspaces({ database, nowMs: Date.now }),
    sessions,
    lastActivityMs: () => lastActivityMs,
    isReady: () => isReady,
    webhooks,
    workspaceRoot: config.workspaceRoot,
  };
  const faces = [...openFaces(facesDeps), ...observability.openFaces({ app, journal, sandboxes, webhooks })];
  for (const face of faces) face.mount(app, mountDeps);
  const socketDeps = { journal, validator, logger, times };
  mountEventSocket(app, { ...socketDeps, scopeOf: () => ({ directory, keys }) });
  mountBashSocket(app, { ...socketDeps, scopeOf: () => ({ openAccess: machine.openAccess, keys }) });
  if (sandboxes === null) refuseGateway(app, mountDeps);
  else await mountGateway(app, { ...facesDeps, sandboxes, keys, logger, times });
  const routes = faces.flatMap((face) => face.routes);
  app.get("/docs", (_request, reply) => reply.type("text/html; charset=utf-8").send(docsPage(routes)));
  let openApi: string | undefined;
  app.get("/openapi.json", (_request, reply) =>
    reply
      .header("content-type", "application/json")
      .send((openApi ??= JSON.stringify(writeOpenApi(routes, agentServerInterface)))),
  );

  takeOver?.mount(app);
  await webhooks.open();
  takeOver?.freePort();
  await app.listen({ host: config.host, port: config.port });
  await directory.recover();
  await appConversations.recover();
  isReady = true;
  const neighbours = setInterval(() => {
    directory.takeUp().catch((error: unknown) => {
      logger.error({ error: String(error) }, "runs of other servers could not be looked at");
    });
  }, takeUpEveryMs);
  neighbours.unref();
  scope.defer(() => clearInterval(neighbours));
  const sweep = setInterval(() => {
    directory.evictIdle(config.conversationIdleSeconds * 1000).catch((error: unknown) => {
      logger.error({ error: String(error) }, "idle conversations could not be put away");
    });
  }, sweepEveryMs(config.conversationIdleSeconds));
  sweep.unref();
  scope.defer(() => clearInterval(sweep));

  const owned = scope.move();
  return {
    url: addressOf(app.server.address() as AddressInfo),
    sessionKey,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** While a server uses the folder, nobody else may change its master key. */
function shareDataFolder(dataDir: string): Disposable {
  try {
    return lockDataFolder(dataDir, "shared");
  } catch (error) {
    if (!(error instanceof DataFolderBusyError)) throw error;
    throw new ConfigError(
      `The master key of ${dataDir} is being changed. Start again when "convoke keys rotate-master" has ended.`,
      { cause: error },
    );
  }
}

function sandboxesElsewhere(): Fault {
  return new Fault(
    "not-now",
    "sandboxes_not_served",
    "The conversation runs in a sandbox, and this server has none: they are switched off, or another server on the same data folder has them.",
  );
}

/** Fails before anything listens when the server would be open to the network without a key (P3). */
async function chooseKey(config: ServerConfig): Promise<Server["sessionKey"]> {
  const isExposed = !isLoopback(config.host);
  if (config.isAuthDisabled) {
    if (isExposed) {
      throw new ConfigError(
        `--no-auth works on loopback only, not on ${config.host}. Leave it out, or listen on 127.0.0.1.`,
      );
    }
    return null;
  }
  const [configured] = config.sessionApiKeys;
  if (configured !== undefined) return { key: configured, file: null };
  if (isExposed && (await readSessionKey(config.dataDir)) === null) {
    throw new ConfigError(
      `Listening on ${config.host} needs a key. Set SESSION_API_KEY, or start once on 127.0.0.1 to have one made.`,
    );
  }
  return await openSessionKey(config.dataDir);
}

async function makeDataDir(dataDir: string): Promise<void> {
  try {
    await makeDirectory(dataDir, 0o700);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError(
      `The data folder ${dataDir} cannot be made: ${reason}. Choose another with --data-dir.`,
      {
        cause: error,
      },
    );
  }
}

/** `http://host:port` that a client on this machine can use. */
export function addressOf({ address, family, port }: AddressInfo): string {
  const isWildcard = address === "0.0.0.0" || address === "::";
  const host = isWildcard ? "127.0.0.1" : family === "IPv6" ? `[${address}]` : address;
  return `http://${host}:${port}`;
}
