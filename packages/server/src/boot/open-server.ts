import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createValidator } from "@convoke/protocol/validate";
import type { ToolHost } from "@convoke/tool-host";
import type { FastifyInstance } from "fastify";
import type { Sandboxes } from "../app-conversations/sandbox-service.ts";
import { chooseKey, type ChosenKey } from "./choose-key.ts";
import type { ServerConfig } from "./config.ts";
import { hiddenTexts } from "./hidden-texts.ts";
import { shareDataFolder } from "./share-data-folder.ts";
import type { Cluster } from "../cluster/cluster.ts";
import type { McpAccess } from "../tools/sources/mcp-tools.ts";
import type { OpenToolSource } from "../tools/tool-source.ts";
import type { Demo } from "../directory/demo.ts";
import { recordFileIn } from "../directory/standstills.ts";
import { socketTimes, type SocketTimes } from "../faces/agent-server/sockets/socket-times.ts";
import { auditFace } from "../faces/operations/audit-face.ts";
import { nodesFace } from "../faces/operations/nodes-face.ts";
import { ByteTunnels } from "../faces/machines/byte-tunnels.ts";
import { Peers } from "../cluster/peers.ts";
import { InternalListener } from "../cluster/internal-listener.ts";
import { addressOf, internalAddress, internalPlace, reachableAt } from "../http/server-address.ts";
import { PageCache } from "../events/page-cache.ts";
import { startMaintenance } from "./maintenance.ts";
import { openWholeCollector } from "../lib/collect-young.ts";
import type { ProcessGroup } from "../cluster/process-group.ts";
import type { Logger } from "../lib/logger.ts";
import { noWrap, openConversations, type Wrap } from "./open-conversations.ts";
import { openDataFolder } from "./open-data-folder.ts";
import { openObservability } from "./open-observability.ts";
import type { OpenSandboxesDeps, SandboxStartDeps, SharedSandboxDeps } from "./open-sandboxes.ts";
import { beginToOpen, openStore } from "./open-store.ts";
import type { Store } from "./store.ts";
import { openListener, openSurface } from "./open-surface.ts";
import { createBoundSecretRegistry } from "../egress/bound-secret-registry.ts";
import type { GitWayDeps } from "../extensions/sources/git-way.ts";
import { toAddressList } from "../lib/address-list.ts";
import { describeError } from "../lib/describe-error.ts";
import { ownListener, type SharedWithWays } from "./own-listener.ts";
import { PolicyStore } from "../settings/policy-store.ts";
import type { Walls } from "../walls/wall.ts";
import { WallHolds } from "../walls/wall-holds.ts";
import { warmUp } from "./warm-up.ts";
import { systemClock } from "../lib/clock.ts";
import { noActivity, Watchdog } from "../lib/watchdog.ts";
import type { WriterThread } from "../journal/sqlite/writer-thread.ts";

export type ServerDeps = {
  readonly config: ServerConfig;
  /** Owned by the server from here on. */
  readonly toolHost: ToolHost;
  readonly logger: Logger;
  /** The allow-listed environment that commands and git on this machine start with; empty unless given. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
  /** Opens the sandboxes, which the server then owns; null or absent: none are served. */
  readonly openSandboxes?: ((shared: SharedWithSandboxes) => Promise<Sandboxes | null>) | undefined;
  /** Opens the walls of conversations on this machine, which the server then owns; null or absent: they have none. */
  readonly openWalls?: ((shared: SharedWithWalls) => Promise<Walls | null>) | undefined;
  /** For git, which fetches repositories for users: the whole environment of the server, and how hosts are reached. */
  readonly git?: Partial<Pick<GitWayDeps, "environment" | "outside">> | undefined;
  /** Instead of the documented times. */
  readonly times?: SocketTimes | undefined;
  /** A demo model, for a server without a real one; none by default. */
  readonly demo?: Demo | null | undefined;
  /** Timeouts for MCP servers, instead of the documented ones. */
  readonly mcp?: Pick<McpAccess, "times" | "firstWaitMs"> | undefined;
  /** Sources of tools besides those of `tool-sources.ts`; none unless given. */
  readonly moreToolSources?: readonly OpenToolSource[] | undefined;
  /** The server exists for the runs that it begins: they are interrupted when it closes, and it resumes no others. */
  readonly isAttended?: boolean | undefined;
  /** Wraps what the server opens, e.g. to make it fail at a chosen moment. */
  readonly wrap?: Wrap | undefined;
  /**
   * Ends this process when its event loop stalls. Only for a process with no other purpose, and with a supervisor that
   * restarts it.
   */
  readonly hasWatchdog?: boolean | undefined;
  /** The process has other purposes too, as that of a test: its garbage and the runtime's flags are not the server's. */
  readonly sharesProcess?: boolean | undefined;
  /** For a server that takes over from one that waited for its configuration. */
  readonly takeOver?: TakeOver | undefined;
  /** For one of several processes behind one port. */
  readonly processGroup?: ProcessGroup | undefined;
  /** See {@link StoreDeps}. */
  readonly writerThread?: WriterThread | undefined;
};

/** What a server that waited for its configuration hands to the configured one. */
export type TakeOver = {
  readonly mount: (app: FastifyInstance) => void;
  /** Called when everything is open, right before the port is taken. */
  readonly freePort: () => void;
};

export type SharedWithSandboxes = Omit<OpenSandboxesDeps, keyof SandboxStartDeps | "config" | "dataDir"> &
  Pick<ServerDeps, "config">;

export type SharedWithWalls = Pick<ServerDeps, "config" | "logger"> &
  SharedWithWays & {
    /** Names of the tools of this program that work here, sorted. */
    readonly catalogue: readonly string[];
    /** Counts a wall of a user that is about to run. */
    readonly takeWallHold: WallHolds["take"];
  };

export interface Server extends AsyncDisposable {
  /** `http://host:port` that a client on this machine can use. */
  readonly url: string;
  /** The key that clients need: configured or the data folder's own; null with `--no-auth`. */
  readonly sessionKey: ChosenKey;
  /** One line for people: the kind of sandboxes and what they isolate; null when none are served. */
  readonly sandboxes: string | null;
  /** One line for people about the walls of conversations on this machine; null when they have none. */
  readonly walls: string | null;
  /** Loads and compiles, in idle moments, the code of the first turn. Rejects when `signal` aborts. */
  readonly warmUp: (signal: AbortSignal) => Promise<void>;
}

/**
 * Opens everything, resumes unfinished runs of the last process, and listens. Rejects with `ConfigError` on
 * unsafe settings.
 */
export async function openServer({
  config,
  toolHost,
  logger: plainLogger,
  environment = {},
  openSandboxes = async () => null,
  openWalls = async () => null,
  git = {},
  times = socketTimes,
  mcp = {},
  moreToolSources = [],
  wrap = noWrap,
  demo = null,
  isAttended = false,
  hasWatchdog = false,
  sharesProcess = false,
  takeOver,
  processGroup,
  writerThread,
}: ServerDeps): Promise<Server> {
  await using scope = new AsyncDisposableStack();
  scope.use(toolHost);
  await openDataFolder(config.dataDir, plainLogger);
  scope.use(shareDataFolder(config.dataDir));
  const sessionKey = await chooseKey(config);
  const ownKeys = sessionKey === null ? [] : [sessionKey.key, ...config.sessionApiKeys];
  const observability = scope.use(await openObservability(config, plainLogger, processGroup));
  const { observer, logger } = observability;
  const { standstillSeconds, dataDir } = config;
  const activity =
    hasWatchdog && standstillSeconds > 0
      ? scope.use(
          new Watchdog({
            limitMs: standstillSeconds * 1000,
            recordFile: recordFileIn(dataDir),
            isThreadLent: config.database === null,
            onFailure: (error) => logger.error({ error: String(error) }, "the watchdog has ended"),
          }),
        )
      : undefined;
  const opening = beginToOpen(
    scope,
    openStore({ ...config, logger, watch: activity?.lent ?? null, writerThread }),
  );
  const listener = await openListener({ config, logger, observability, times });
  const { app } = listener;
  const opened = await opening;
  observability.openAudit(opened.secretBox);
  const store = { ...opened, journal: wrap.journal(opened.journal) };
  const peers = new Peers({ cluster: store.cluster });
  const internalListener = processGroup === undefined ? null : new InternalListener({ app, peers });
  const tunnels = new ByteTunnels(app, peers);
  let ownPort: number | null = null;
  const boundSecrets = createBoundSecretRegistry();
  const policies = await PolicyStore.open({ database: store.database, clock: systemClock });
  const ways: SharedWithWays = {
    ownPort: () => ownPort,
    onEgress: (place, record) => observability.onEgress(place, record),
    boundSecrets,
    policyOf: policies.of,
  };
  // Before sandboxes: a start that is refused for want of a wall says that alone.
  const wallHolds = new WallHolds({ ...store, policies, logger });
  const walls = await openWalls({
    config,
    logger,
    catalogue: toolHost.catalogue,
    takeWallHold: (userId) => wallHolds.take(userId),
    ...ways,
  });
  if (walls !== null) scope.use(walls);
  const sandboxes = await openSandboxes({
    config,
    logger,
    ...ways,
    secretBox: store.secretBox,
    clock: systemClock,
    ...(await joinMachines(store, app, { peers, tunnels, processGroup, dataDir })),
  });
  if (sandboxes !== null) scope.use(sandboxes);
  const isBlocked = toAddressList(config.blockedAddresses, "CONVOKE_BLOCKED_ADDRESSES");
  const isOwnListener = ownListener(ways.ownPort);
  const gitWays: GitWayDeps = {
    environment,
    ...git,
    // Neither is ever reached, whatever a policy lists.
    isOwnListener: (address, port) => isOwnListener(address, port) || isBlocked(address),
    onRecord: (user, record) => observability.onEgress({ user }, record),
    onUnexpected: (error, message) =>
      logger.error({ reason: describeError(error) }, `in the way out of git, ${message}`),
  };
  const validator = createValidator();
  const shared = { config, toolHost, sandboxes, validator, logger };
  const conversations = scope.use(
    await openConversations({
      ...shared,
      ...store,
      walls,
      policies,
      wallHolds,
      boundSecrets,
      gitWays,
      observer,
      mcp,
      moreToolSources,
      wrap,
      demo,
      serverKeys: [...ownKeys, ...hiddenTexts(config)],
      isAttended,
      hasSharedSandboxes: processGroup !== undefined,
      activity: activity ?? noActivity,
      onReview: (ownerId, record) => observability.onReview(ownerId, record),
      onRetention: (userId, record) => observability.onRetention(userId, record),
    }),
  );
  const { directory, appConversations, webhooks } = conversations;
  const { cluster } = store;
  let isReady = false;
  const pages = new PageCache();
  const surface = scope.use(
    await openSurface({
      pages,
      ...shared,
      observer,
      listener,
      store,
      conversations,
      times,
      peers,
      tunnels,
      environment,
      ownKeys,
      processGroup,
      demo,
      isReady: () => isReady && cluster.isSound(),
      faces: [
        ...observability.openFaces({ app, journal: store.journal, sandboxes, walls, webhooks }),
        nodesFace(cluster),
        auditFace(join(dataDir, "audit")),
      ],
    }),
  );

  takeOver?.mount(app);
  await webhooks.open();
  takeOver?.freePort();
  const url = await listen(config, { app, cluster, processGroup, internalListener });
  ownPort = Number(new URL(url).port);
  await directory.recover();
  if (!isAttended) {
    await appConversations.recover();
    surface.startAutomations();
  }
  isReady = true;
  const collect = sharesProcess ? null : openWholeCollector();
  const releaseMemory = (): void => {
    store.journal.releaseMemory();
    directory.releaseMemory();
    pages.clear();
    collect?.();
  };
  const { lastActivityMs } = listener;
  scope.use(
    startMaintenance({
      ...conversations,
      config,
      cluster,
      lastActivityMs,
      releaseMemory,
      sharesProcess,
      logger,
    }),
  );

  const owned = scope.move();
  return {
    url,
    sessionKey,
    sandboxes: sandboxes?.summary ?? null,
    walls: walls?.summary ?? null,
    warmUp: (signal) => warmUp({ validator, walls }, signal),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Announces this node's address to the others; resolves with the address for clients. */
async function listen(
  config: ServerConfig,
  { app, cluster, processGroup, internalListener }: Listening,
): Promise<string> {
  const { ownHost } = cluster;
  const { host, port, database } = config;
  if (processGroup === undefined || internalListener === null) {
    await app.listen({ host, port });
    const url = addressOf(app.server.address() as AddressInfo);
    await cluster.announce(database?.nodeAddress ?? reachableAt(url, host, ownHost));
    return url;
  }
  const plan = { ...config, number: processGroup.number };
  await app.listen(internalPlace(plan));
  await cluster.announce(internalAddress(plan, app.server.address() as AddressInfo, ownHost));
  internalListener.open(processGroup);
  return processGroup.url;
}

type Listening = {
  readonly app: FastifyInstance;
  readonly cluster: Cluster;
  readonly processGroup: ProcessGroup | undefined;
  readonly internalListener: InternalListener | null;
};

/** Connects the sandboxes of this machine, of other machines, and of the process that manages them. */
async function joinMachines(
  { machines: shared, database, cluster: { nodeId } }: Store,
  app: FastifyInstance,
  { peers, tunnels, processGroup, dataDir }: MachineWays,
): Promise<Pick<SharedWithSandboxes, "cluster" | "sharedSandboxes">> {
  if (shared === null && processGroup === undefined) return { cluster: null, sharedSandboxes: null };
  const [{ NodeMachines }, { mountMachine }] = await Promise.all([
    import("../faces/machines/node-machines.ts"),
    import("../faces/machines/mount-machine.ts"),
  ]);
  const machines =
    shared ?? new (await import("../cluster/folder-machines.ts")).FolderMachines(dataDir, nodeId);
  const ways: SharedSandboxDeps = {
    machines,
    machineCalls: new NodeMachines({ machines, peers }),
    onOpen: (local, store) => mountMachine(app, { local, store, tunnels }),
  };
  return {
    cluster: shared === null ? null : { ...ways, database },
    sharedSandboxes: processGroup === undefined ? null : ways,
  };
}

type MachineWays = {
  readonly peers: Peers;
  readonly tunnels: ByteTunnels;
  readonly processGroup: ProcessGroup | undefined;
  readonly dataDir: string;
};
