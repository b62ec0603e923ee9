import type { Worker } from "node:worker_threads";
import {
  completeConfig,
  openDeferredServer,
  openServer,
  readConfig,
  readInitKey,
  type ConfigOverrides,
  type Demo,
  type DeferredServer,
  type ProcessGroup,
  type InitDeps,
  type Logger,
  type Sandboxes,
  type Server,
  type ServerConfig,
  type SharedWithSandboxes,
  type SharedWithWalls,
  type TakeOver,
  type Walls,
} from "@convoke/server";
import { openWalls } from "@convoke/server/walls";
import type { findBubblewrap } from "@convoke/server/find-bubblewrap";
import {
  allowedEnvironment,
  collectOrphans,
  createInProcessHost,
  createMarker,
  defaultTools,
  openGuardian,
} from "@convoke/tool-host";
import { pino, type Level } from "pino";
import { describeRefusedUser, ownSystem } from "./check-system.ts";
import { CommandError, exitCodes } from "./exit-codes.ts";
import { ignoreDebugSignal } from "./ignore-debug-signal.ts";
import { listening } from "./listening.ts";
import { makeWorkspaceRoot } from "./make-workspace-root.ts";
import { findToolHostProgram } from "./find-tool-host-program.ts";
import { configuredEnvironment } from "./configuration/load-configuration.ts";

export type Node = AsyncDisposable & { readonly server: Server; readonly config: ServerConfig };

type NodeDeps = {
  readonly config: ServerConfig;
  /** Where the configuration comes from; commands see the allowed part of it. */
  readonly environment: Environment;
  /** What commands see besides. */
  readonly forCommands?: Readonly<Record<string, string>>;
  readonly logger: Logger;
  readonly hasSandboxes: boolean;
  /** For one run, which belongs to this process. */
  readonly isAttended?: boolean;
  readonly bubblewrap?: BubblewrapFinding | undefined;
  /** Started while the server was loading. */
  readonly writerThread?: Worker | undefined;
  readonly demo?: Demo;
  readonly takeOver?: TakeOver;
  /** For one of several processes behind one port. */
  readonly processGroup?: ProcessGroup;
};

/** What bubblewrap can do here, found out while the server was loading. */
type BubblewrapFinding = ReturnType<typeof findBubblewrap>;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * A whole server in this process: tools, a guardian that ends them if we are killed, and the HTTP face. Only one that is
 * there to stay manages sandboxes.
 */
export async function openNode(
  overrides: ConfigOverrides,
  logLevel: Level | "silent",
  {
    hasSandboxes,
    ...more
  }: Pick<
    NodeDeps,
    "hasSandboxes" | "bubblewrap" | "writerThread" | "isAttended" | "demo" | "processGroup"
  > = {
    hasSandboxes: false,
  },
): Promise<Node> {
  refuseUser();
  const environment = configuredEnvironment();
  const config = readConfig(environment, overrides);
  if (more.processGroup !== undefined && readInitKey(environment, overrides) !== null)
    throw new CommandError(
      "Deferred initialisation (OH_DEFERRED_INIT) needs a single process. Remove --processes.",
      exitCodes.usage,
    );
  return await openConfigured({
    config,
    environment,
    logger: openLogger(logLevel, more.processGroup),
    hasSandboxes,
    ...more,
  });
}

function refuseUser(): void {
  const refused = describeRefusedUser(ownSystem);
  if (refused !== null) throw new CommandError(refused, exitCodes.usage);
}

/** A server that waits for its configuration; null when it is to start with the one it has. */
export async function openDeferredNode(
  overrides: ConfigOverrides,
  logLevel: Level | "silent",
): Promise<DeferredServer | null> {
  const environment = configuredEnvironment();
  const initKey = readInitKey(environment, overrides);
  if (initKey === null) return null;
  refuseUser();
  const config = readConfig(environment, overrides);
  const logger = openLogger(logLevel);
  // The port is taken: what comes later cannot move it.
  const settled = { ...overrides, host: config.host, port: config.port };
  const initDeps: InitDeps = { environment, overrides: settled, allowedEnvironment };
  const opening = openDeferredServer({
    config,
    initKey,
    logger,
    complete: (request) => completeConfig(request, initDeps),
    open: async (completed, takeOver) => {
      const node = await openConfigured({ ...completed, logger, hasSandboxes: true, takeOver });
      return { ...node.server, [Symbol.asyncDispose]: () => node[Symbol.asyncDispose]() };
    },
  });
  return await listening(opening, config);
}

/** Of several processes each line says which one wrote it. */
function openLogger(logLevel: Level | "silent", processGroup?: ProcessGroup): Logger {
  const base = processGroup === undefined ? null : { process: processGroup.number };
  return pino({ level: logLevel, base }, pino.destination({ dest: 2, sync: true }));
}

async function openConfigured({
  config,
  environment: whole,
  forCommands = {},
  logger,
  hasSandboxes,
  bubblewrap,
  writerThread,
  isAttended,
  demo,
  takeOver,
  processGroup,
}: NodeDeps): Promise<Node> {
  ignoreDebugSignal();
  await makeWorkspaceRoot(config.workspaceRoot);
  await using scope = new AsyncDisposableStack();
  const guardian = scope.use(await openGuardian({ marker: createMarker("convoke") }));
  collectLater(scope, logger);
  const environment = { ...allowedEnvironment(whole), ...forCommands, ...guardian.environment };
  let ownAddresses: readonly string[] = [];
  const toolHost = createInProcessHost({
    tools: defaultTools({ closedAddresses: () => ownAddresses }),
    environment,
    onWarning: (text) => logger.warn({}, text),
  });
  const server = scope.use(
    await listening(
      openServer({
        config,
        toolHost,
        logger,
        environment,
        hasWatchdog: hasSandboxes,
        openSandboxes: hasSandboxes
          ? (shared) => openOurSandboxes(shared, { environment: whole, bubblewrap })
          : undefined,
        openWalls: (shared) => openOurWalls(shared, { environment: whole, bubblewrap }),
        git: { environment: whole },
        isAttended,
        demo,
        takeOver,
        processGroup,
        writerThread,
      }),
      config,
    ),
  );
  ownAddresses = addressesOf(server.url);
  const owned = scope.move();
  return { server, config, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** The ways in which pages on this machine could name this server; its own guard refuses other names. */
function addressesOf(url: string): string[] {
  const { hostname, port } = new URL(url);
  return [...new Set([hostname, "127.0.0.1", "localhost", "[::1]"])].map((host) => `${host}:${port}`);
}

/** Guardians of others that ended just now are still at it: what is left after them had none. */
function collectLater(scope: AsyncDisposableStack, logger: Logger): void {
  const collect = async (): Promise<void> => {
    const count = await collectOrphans();
    if (count > 0) logger.warn({ count }, "ended processes that an earlier server left running");
  };
  const timer = setTimeout(() => {
    collect().catch((error: unknown) =>
      logger.error({ error: String(error) }, "cannot clean up orphaned processes"),
    );
  }, guardiansTakeMs).unref();
  scope.defer(() => clearTimeout(timer));
}

const guardiansTakeMs = 10_000;

async function openOurSandboxes(
  { config, ...shared }: SharedWithSandboxes,
  start: Pick<NodeDeps, "environment" | "bubblewrap">,
): Promise<Sandboxes | null> {
  if (config.sandbox.use.length === 0) return null;
  const { openSandboxes } = await import("@convoke/server/sandboxes");
  return await openSandboxes({
    ...shared,
    config: config.sandbox,
    dataDir: config.dataDir,
    ...start,
    program: findToolHostProgram(),
  });
}

async function openOurWalls(
  shared: SharedWithWalls,
  start: Pick<NodeDeps, "environment" | "bubblewrap">,
): Promise<Walls | null> {
  if (shared.config.wall.kind === "off") return null;
  return await openWalls({ ...shared, ...start, program: findToolHostProgram() });
}
