import { agentServerInterface, writeOpenApi } from "@convoke/protocol";
import type { Face, MountDeps } from "../http/mount.ts";
import { SummaryFeed } from "../reading/summary-feed.ts";
import { shareSummaries } from "../directory/share-summaries.ts";
import { mountBrowserSocket } from "../faces/agent-server/sockets/browser-socket.ts";
import { mountOverviewSocket } from "../faces/agent-server/sockets/overview-socket.ts";
import { TrimmedEvents } from "../events/trimmed-events.ts";
import type { FastifyInstance } from "fastify";
import type { ServerConfig } from "./config.ts";
import { docsHeaders, docsPage } from "../faces/agent-server/server/docs-page.ts";
import { mountBashSocket } from "../faces/agent-server/sockets/bash-socket.ts";
import { NodeSignals } from "../faces/agent-server/sockets/node-signals.ts";
import { closeCodes } from "../faces/agent-server/sockets/close-codes.ts";
import { mountEventSocket } from "../faces/agent-server/sockets/event-socket.ts";
import { mountShellSocket } from "../faces/agent-server/sockets/shell-socket.ts";
import { mountTerminalSocket } from "../faces/agent-server/sockets/terminal-socket.ts";
import type { SocketTimes } from "../faces/agent-server/sockets/socket-times.ts";
import { createCookieReader, createPageProof } from "../faces/agent-server/files/workspace-cookie.ts";
import { mountPreviews } from "../faces/previews/mount-previews.ts";
import { isPreviewCapability } from "../faces/previews/preview-path.ts";
import { FarPorts } from "../faces/previews/far-ports.ts";
import type { ByteTunnels } from "../faces/machines/byte-tunnels.ts";
import { WorkspacePorts } from "../faces/previews/workspace-ports.ts";
import { createSandboxAccess } from "../faces/gateway/sandbox-access.ts";
import { mountGateway } from "../faces/gateway/mount-gateway.ts";
import { isPortCapability } from "../faces/gateway/port-path.ts";
import { refuseGateway } from "../faces/gateway/refuse-gateway.ts";
import { completeStart, type CompleteStartDeps } from "../faces/agent-server/conversations/complete-start.ts";
import type { FaceDeps } from "../faces/face-deps.ts";
import { openFaces } from "../faces/open-faces.ts";
import { ConfigError } from "../lib/config-error.ts";
import { reportUnusedIn } from "../faces/agent-server/report-unused.ts";
import { callerOfKey, createKeyRing, type KeyRing } from "../http/auth.ts";
import { createGuard, type GuardOptions } from "../http/guard.ts";
import { createAuthenticator, openHttp } from "../http/open-http.ts";
import type { Peers } from "../cluster/peers.ts";
import { createClientAddress } from "../http/public-address.ts";
import { WrongAttempts } from "../http/wrong-attempts.ts";
import type { ProcessGroup } from "../cluster/process-group.ts";
import type { Logger } from "../lib/logger.ts";
import { findLocalServers } from "../models/local-servers.ts";
import type { OpenConversations } from "./open-conversations.ts";
import { sandboxesElsewhere } from "./sandbox-hosts.ts";
import type { Observability } from "./open-observability.ts";
import { openAutomations } from "./open-automations.ts";
import type { OpenPush } from "./open-push.ts";
import type { OidcLogins } from "../oidc/oidc-logins.ts";
import { markOfProvider } from "../oidc/oidc-settings.ts";
import type { Store } from "./store.ts";
import { KeyStore } from "../settings/key-store.ts";
import { LoginStore, markOfKey } from "../settings/login-store.ts";
import { SealedValues } from "../settings/sealed-values.ts";
import { Machine } from "../workspaces/machine.ts";
import { isPageCapability } from "../workspaces/page-address.ts";
import { SavedWorkspaces } from "../workspaces/saved-workspaces.ts";
import { WorkspaceSessions } from "../workspaces/workspace-session.ts";
import { systemClock } from "../lib/clock.ts";

export type ListenerDeps = {
  readonly config: ServerConfig;
  readonly logger: Logger;
  readonly observability: Pick<Observability, "observer" | "onCall">;
  readonly times: Pick<SocketTimes, "closingMs">;
};

/** An HTTP server without routes that does not listen yet. */
export type Listener = {
  readonly app: FastifyInstance;
  readonly lastActivityMs: () => number;
};

export async function openListener({
  config,
  logger,
  observability,
  times,
}: ListenerDeps): Promise<Listener> {
  let lastActivityMs = Date.now();
  const app = await openHttp({
    guard: createGuard({
      boundHost: config.host,
      allowedHosts: config.allowedHosts,
      allowedOrigins: config.allowedOrigins,
      originPattern: await compileOrigins(config.originPattern),
      machineName: config.machineName,
      isKeyless: config.isAuthDisabled,
    }),
    logger,
    calls: {
      active: () => (lastActivityMs = Date.now()),
      ended: (call) => observability.onCall(call),
    },
    trustedProxies: config.trustedProxies,
    webUrl: config.webUrl,
    webDir: config.webDir,
    docsDir: config.docsDir,
    isForEveryOrigin: (url) => isPortCapability(url) || isPageCapability(url) || isPreviewCapability(url),
    observer: observability.observer,
    closingMs: times.closingMs,
  });
  return { app, lastActivityMs: () => lastActivityMs };
}

/** A regular expression engine with linear time; loaded only when such an expression is configured. */
async function compileOrigins(
  source: string | null,
): Promise<NonNullable<GuardOptions["originPattern"]> | null> {
  if (source === null) return null;
  const { compilePattern, PatternRefused } = await import("../lib/foreign-pattern.ts");
  try {
    return compilePattern(source, { anchor: "whole" });
  } catch (error) {
    if (!(error instanceof PatternRefused)) throw error;
    throw new ConfigError(`OH_ALLOW_CORS_ORIGIN_REGEX cannot be used: ${error.message}`);
  }
}

export type SurfaceDeps = Pick<
  FaceDeps,
  "toolHost" | "sandboxes" | "validator" | "logger" | "pages" | "demo" | "isReady"
> & {
  readonly config: ServerConfig;
  readonly listener: Listener;
  readonly store: Store;
  readonly conversations: OpenConversations;
  readonly times: SocketTimes;
  /** Reaches the other nodes on the store. */
  readonly peers: Peers;
  readonly tunnels: ByteTunnels;
  /** The other processes behind the same port; absent: there are none. */
  readonly processGroup: ProcessGroup | undefined;
  /** The allow-listed environment that commands and git on this machine start with. */
  readonly environment: Readonly<Record<string, string>>;
  readonly observer: Observability["observer"];
  /** Keys that clients may use besides those of the key store. */
  readonly ownKeys: readonly string[];
  /** Metrics besides those of conversations and sandboxes. */
  readonly faces: readonly Face[];
};

export type Surface = AsyncDisposable & {
  /** Lets automations start; to be called when conversations can be created. */
  startAutomations(): void;
};

/** Mounts every route and socket on a listener, which it owns and closes. */
export async function openSurface(deps: SurfaceDeps): Promise<Surface> {
  const { config, listener, store, conversations, sandboxes, validator, logger, times, ownKeys, peers } =
    deps;
  const { processGroup } = deps;
  const { app } = listener;
  const { journal, database, secretBox } = store;
  const { directory, secrets } = conversations;
  await using scope = new AsyncDisposableStack();
  const logins = scope.use(
    await LoginStore.open({
      database,
      clock: systemClock,
      logger,
      keyMarks: [...ownKeys.map(markOfKey), ...(config.oidc === null ? [] : [markOfProvider(config.oidc)])],
    }),
  );
  const keyStore = scope.use(await KeyStore.open({ database, clock: systemClock, logger }));
  const keys = createKeyRing(ownKeys, keyStore, logins);
  scope.defer(() => app.close());
  const machine = scope.use(
    new Machine({
      environment: deps.environment,
      dataDir: config.dataDir,
      workspaceRoot: config.workspaceRoot,
      users: config.machineUsers,
      bashTtlMs: config.bashRetentionSeconds === null ? null : config.bashRetentionSeconds * 1_000,
      ownKeys,
      secrets,
    }),
  );
  const attempts = scope.use(new WrongAttempts(Date.now, processGroup));
  app.attemptLimit.open(attempts);
  app.signatureLimit.open(scope.use(new WrongAttempts(Date.now, processGroup, "wrong signature")));
  app.rateLimits.open(config.rateLimits);
  const sessions = new WorkspaceSessions({ secretBox, clock: systemClock });
  app.pageProofs.open(createPageProof(sessions, keys));
  const authenticate = createAuthenticator(keys);
  const mountDeps: MountDeps = {
    validator,
    callers: {
      authenticate: (request) => peers.callerOf(request) ?? authenticate(request),
      authenticateCookie: createCookieReader(sessions, keys),
    },
    peers,
    reportUnused: reportUnusedIn(directory, logger),
  };
  scope.defer(
    journal.onSetBack(() => {
      deps.pages.clear();
      for (const socket of app.websocketServer.clients)
        socket.close(closeCodes.tryAgainLater, "The database went back to an earlier moment");
    }),
  );
  const push = await openPushIfOn(deps, keys);
  if (push !== null) scope.use(push);
  const sealedValues = new SealedValues(secretBox);
  const completeDeps: CompleteStartDeps = {
    ...conversations,
    sealedValues,
    catalogue: deps.toolHost.catalogue,
    approvalDefault: config.approvalDefault,
  };
  const complete: FaceDeps["complete"] = (body, caller) => completeStart(body, caller, completeDeps);
  const automations = scope.use(openAutomations({ ...deps, complete, users: keyStore.users }));
  const trimmed = new TrimmedEvents();
  const faceDeps: FaceDeps = {
    ...deps,
    ...store,
    ...conversations,
    push,
    trimmed,
    approvalDefault: config.approvalDefault,
    sealedValues,
    automations,
    hooks: automations.hooks,
    complete,
    findLocalServers: () => findLocalServers({ send: fetch, ollamaHost: config.ollamaHost }),
    clock: systemClock,
    openAccess: machine.openAccess,
    openSandboxAccess: createSandboxAccess({ sandboxes, secrets }),
    openFiles: async ({ sandbox_id: sandboxId }, root) => {
      if (sandboxId === undefined) return machine.openDirectory(root);
      if (sandboxes === null) throw sandboxesElsewhere();
      return (await sandboxes.openHost(sandboxId)).toolHost.workspace.within(root);
    },
    uploadLimitBytes: config.uploadLimitBytes,
    savedWorkspaces: new SavedWorkspaces({ database, clock: systemClock }),
    sessions,
    keys,
    keyStore,
    logins,
    oidc: await openOidcIfOn(deps, { keyStore, logins }),
    attempts,
    clientAddress: createClientAddress(config.trustedProxies),
    lastActivityMs: listener.lastActivityMs,
    workspaceRoot: config.workspaceRoot,
  };
  const ports = new WorkspacePorts({
    ...faceDeps,
    openWall: (conversation) => conversations.hosts.openWall(conversation),
    owners: store.machines === null ? null : directory,
  });
  const faces = [...openFaces(faceDeps, ports), ...deps.faces];
  for (const face of faces) face.mount(app, mountDeps);
  const socketDeps = { journal, trimmed, validator, logger, times };
  const nodeSignals =
    config.database === null && processGroup === undefined
      ? undefined
      : scope.use(
          new NodeSignals({
            cluster: store.cluster,
            peers,
            directory,
            journal,
            publishesAppends: config.database === null,
            logger,
          }),
        );
  nodeSignals?.mount(app);
  mountEventSocket(app, {
    ...socketDeps,
    peers,
    nodeSignals,
    scopeOf: () => ({ directory, keys }),
  });
  const feed = scope.use(
    new SummaryFeed({
      journal,
      describeAll: (ids) => directory.describeAll(ids),
      onFailure: (error) => logger.warn({ error: String(error) }, "overview could not be published"),
    }),
  );
  if (processGroup !== undefined) scope.defer(shareSummaries(feed, journal, processGroup));
  mountTerminalSocket(app, { ...socketDeps, peers, scopeOf: () => ({ directory, keys }) });
  mountShellSocket(app, { ...faceDeps, times, peers });
  mountBrowserSocket(app, { ...socketDeps, peers, scopeOf: () => ({ directory, keys }) });
  mountOverviewSocket(app, { directory, feed, journal, keys, logger, times });
  mountBashSocket(app, { ...socketDeps, scopeOf: () => ({ openAccess: machine.openAccess, keys }) });
  const farPorts = new FarPorts({ ports, peers });
  if (store.machines !== null) farPorts.mount(deps.tunnels);
  await mountPreviews(app, { ports: farPorts, sessions, keys, times });
  if (sandboxes === null) refuseGateway(app, mountDeps);
  else
    await mountGateway(app, {
      ...faceDeps,
      sandboxes,
      times,
      peers,
      nodeSignals,
    });
  // With a shared port, the internal listener of each process admits only other nodes, so every request there is
  // checked.
  // Requests that are limited are counted by their routes.
  if (processGroup === undefined && !app.rateLimits.isOn)
    app.readyAnswers.open((headers) => {
      // The route knows which addresses must wait.
      if (attempts.isLimiting) return null;
      const caller = callerOfKey(headers, keys);
      // The scope of a key is checked by the route.
      return caller?.onlyConversation === undefined ? caller : null;
    });
  mountDocuments(
    app,
    faces.flatMap((face) => face.routes),
    config.docsDir !== null,
  );
  const owned = scope.move();
  return {
    startAutomations: () => automations.start(),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** The page for people and the document for programs, both of the routes that are served. */
function mountDocuments(app: FastifyInstance, routes: Face["routes"], hasGuides: boolean): void {
  app.get("/docs", (_request, reply) => reply.headers(docsHeaders).send(docsPage(routes, hasGuides)));
  let openApi: string | undefined;
  app.get("/openapi.json", (_request, reply) =>
    reply
      .header("content-type", "application/json")
      .send((openApi ??= JSON.stringify(writeOpenApi(routes, agentServerInterface)))),
  );
}

/** Its dependencies are loaded only when it is switched on. */
async function openPushIfOn(deps: SurfaceDeps, keys: KeyRing): Promise<OpenPush | null> {
  const { push } = deps.config;
  if (push === null) return null;
  const { openPush } = await import("./open-push.ts");
  return await openPush({ ...deps, config: push, keys });
}

/** As {@link openPushIfOn}. */
async function openOidcIfOn(
  { config: { oidc: settings }, store }: SurfaceDeps,
  stores: { readonly keyStore: KeyStore; readonly logins: LoginStore },
): Promise<OidcLogins | null> {
  if (settings === null) return null;
  const { openOidc } = await import("./open-oidc.ts");
  return openOidc({ settings, store, ...stores, clock: systemClock });
}
