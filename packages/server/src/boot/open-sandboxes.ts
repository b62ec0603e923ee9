import { join } from "node:path";
import { connectToolHost } from "@convoke/tool-host";
import { ClusterSandboxes } from "../app-conversations/cluster-sandboxes.ts";
import {
  FleetSandboxes,
  isolationOf,
  type FleetTemplate,
  type LocalSandboxes,
} from "../app-conversations/fleet-sandboxes.ts";
import { SharedRows, SharedStarts } from "../app-conversations/shared-sandboxes.ts";
import type { MachineCalls } from "../app-conversations/machine-calls.ts";
import { sandboxPorts } from "../app-conversations/sandbox-ports.ts";
import type { Sandboxes } from "../app-conversations/sandbox-service.ts";
import type { Machines } from "../cluster/machines.ts";
import type { ApplicationDatabase } from "../database/application-database.ts";
import type { SandboxStore } from "../sandboxes/sandbox-store.ts";
import { SharedSandboxes } from "../sandboxes/shared-sandbox-store.ts";
import { ConfigError } from "../lib/config-error.ts";
import { createBoundSecretRegistry } from "../egress/bound-secret-registry.ts";
import { describeNetwork } from "../egress/policy/describe-network.ts";
import type { SandboxBackendName, SandboxConfig } from "./config-sandboxes.ts";
import { ownListener, type SharedWithWays } from "./own-listener.ts";
import { readSandboxSpecs, type SandboxSpecs } from "./read-sandbox-specs.ts";
import { specTemplates, templateOf } from "./spec-templates.ts";
import { silentLogger, type Logger } from "../lib/logger.ts";
import { makeDirectory } from "../lib/make-directory.ts";
import { openControlGroups } from "../sandboxes/control-groups/open-control-groups.ts";
import { ownAccount, type BackendFinding } from "../sandboxes/find-bubblewrap.ts";
import {
  installationIdOf,
  openSandboxBackends,
  type SandboxChoice,
  type SandboxPlatform,
} from "../sandboxes/open-sandbox.ts";
import { SandboxWays } from "../sandboxes/sandbox-ways.ts";
import { openSandboxFleet } from "../sandboxes/sandbox-fleet.ts";
import {
  openSqliteSandboxStore,
  sandboxesFile,
  SandboxesHeldError,
} from "../sandboxes/sqlite-sandbox-store.ts";
import type { ToolHostProgram } from "../sandboxes/tool-host-program.ts";
import type { SecretBox } from "../security/seal.ts";
import type { Clock } from "../lib/clock.ts";

export { isImageHere, type SandboxChoice } from "../sandboxes/open-sandbox.ts";
export { specProblem } from "./spec-templates.ts";
export type { ToolHostProgram } from "../sandboxes/tool-host-program.ts";

/** How to start a tool host, which only the command knows. */
export type SandboxStartDeps = {
  readonly program: ToolHostProgram;
  /** The server's environment; only its allow-listed part reaches a sandbox. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** A probe of the backends that was begun while the server was loading. */
  readonly bubblewrap?: Promise<BackendFinding> | undefined;
};

export type OpenSandboxesDeps = SandboxStartDeps &
  SharedWithWays & {
    readonly config: SandboxConfig;
    readonly dataDir: string;
    /** The store of the sandboxes of all machines; null stores those of this machine in the data folder. */
    readonly cluster: SandboxCluster | null;
    /** Reaches the process behind the same port that manages the sandboxes, when it is another one; otherwise null. */
    readonly sharedSandboxes: SharedSandboxDeps | null;
    readonly secretBox: SecretBox;
    readonly clock: Clock;
    readonly logger: Logger;
  };

/** What servers on several machines share. */
export type SandboxCluster = {
  readonly database: ApplicationDatabase;
  readonly machines: Machines;
  readonly machineCalls: MachineCalls;
  /** Called with the calls that other nodes may make to the sandboxes here. */
  readonly onOpen: OnOpen;
};

/** For processes that share a data folder: one of them manages its sandboxes for all. */
export type SharedSandboxDeps = {
  readonly machines: Machines;
  readonly machineCalls: MachineCalls;
  readonly onOpen: OnOpen;
};

type OnOpen = (local: LocalSandboxes, store: SandboxStore) => void;

/**
 * Opens the sandboxes of a data folder, which one server at a time manages. Null when they are switched off or another
 * server has them. Closing releases them: they keep running.
 */
export async function openSandboxes(deps: OpenSandboxesDeps): Promise<Sandboxes | null> {
  const { config, dataDir, secretBox, clock, logger } = deps;
  if (config.use.length === 0) return null;
  await using scope = new AsyncDisposableStack();
  const sandboxesDir = join(dataDir, "sandboxes");
  await makeDirectory(sandboxesDir, 0o711);
  const store = await openStore(deps);
  if (store === null && deps.sharedSandboxes !== null)
    return await openSharedSandboxes(deps, deps.sharedSandboxes);
  if (store === null) {
    logger.warn(
      { dataDir },
      "another server manages the sandboxes of this data folder; none are served here",
    );
    return null;
  }
  scope.use(store);
  let ownerOf = (_id: string): string | null => null;
  const ways = scope.use(
    new SandboxWays({
      policy: config.network,
      limitOf: (id) => {
        const ownerId = ownerOf(id);
        return ownerId === null ? undefined : deps.policyOf(ownerId).max_network;
      },
      environment: deps.environment,
      isOwnListener: ownListener(deps.ownPort),
      boundSecrets: deps.boundSecrets,
      onRecord: (sandbox, record) => deps.onEgress({ sandbox }, record),
      logger,
    }),
  );
  const specs = await readSandboxSpecs(config.specsFile, config.image);
  const choice = await openSandboxBackends(toPlatform(deps, { sandboxesDir, ways, specs }));
  const templates = chooseTemplates(choice, config, specs);
  const fleet = scope.use(
    await openSandboxFleet({ backends: choice.backends, store, secretBox, clock, logger }),
  );
  ownerOf = (id) => fleet.ownerOf(id);
  ways.checkLimits();
  const summary = summaryOf(templates[0], choice, config);
  if (templates.some(({ backend }) => isolationOf(backend) === "none")) {
    logger.warn(
      { sandboxes: summary },
      "sandboxes of the kind process isolate nothing: what runs in them has all rights of the server's user",
    );
  }
  const sandboxes = new FleetSandboxes({
    fleet,
    ways,
    templates,
    sandboxesDir,
    templatesSinceMs: clock.nowMs(),
    summary,
    warm: { logger },
  });
  scope.move();
  if (deps.cluster !== null) return joined(sandboxes, store, deps.cluster, secretBox);
  deps.sharedSandboxes?.onOpen(sandboxes, store);
  return sandboxes;
}

/** Uses the sandboxes of the process that manages them, which was started before this one. */
async function openSharedSandboxes(
  { cluster, secretBox }: OpenSandboxesDeps,
  { machines, machineCalls }: SharedSandboxDeps,
): Promise<Sandboxes> {
  const offer = await machineCalls.ask(machines.own, "offer", { id: "all", ownerId: "" });
  return new ClusterSandboxes({
    local: null,
    starts: new SharedStarts(machineCalls, machines.own, offer),
    shared:
      cluster === null ? new SharedRows(machineCalls, machines.own) : new SharedSandboxes(cluster.database),
    machineCalls,
    secretBox,
  });
}

/** Such as `process: isolates nothing (bubblewrap: not installed)`. */
function summaryOf(
  { backend, policy, image = "", runtime }: FleetTemplate,
  { findings }: SandboxChoice,
  { use, network }: SandboxConfig,
): string {
  const networkText = describeNetwork(policy ?? network);
  if (backend === "bubblewrap")
    return `bubblewrap: own files and processes, ${networkText}; shares the kernel`;
  const kernel = runtime === undefined ? "shares the kernel" : `runtime ${runtime}`;
  if (backend === "docker") return `docker: containers of ${image}, ${networkText}; ${kernel}`;
  const missing = findings.find(({ name, isUsable }) => name === "bubblewrap" && !isUsable);
  const reason = use === "auto" && missing !== undefined ? ` (bubblewrap: ${missing.detail})` : "";
  // The remedy in brackets is left out here; the log and `convoke doctor` show it.
  return `process: isolates nothing${reason.replace(/ \([^()]*\)\)$/, ")")}`;
}

/** Serves the sandboxes here to other machines, and makes theirs known here. */
function joined(
  local: LocalSandboxes,
  store: SandboxStore,
  { database, machineCalls, onOpen }: SandboxCluster,
  secretBox: SecretBox,
): Sandboxes {
  onOpen(local, store);
  return new ClusterSandboxes({
    local,
    starts: local,
    shared: new SharedSandboxes(database),
    machineCalls,
    secretBox,
  });
}

/** Null while another server has them. */
async function openStore({
  cluster,
  sharedSandboxes,
  dataDir,
}: OpenSandboxesDeps): Promise<SandboxStore | null> {
  if (cluster !== null) {
    const { database, machines } = cluster;
    const serving = await machines.serve();
    return serving === null ? null : new SharedSandboxes(database).ofMachine(machines.own, serving);
  }
  try {
    const store = openSqliteSandboxStore(sandboxesFile(dataDir));
    await sharedSandboxes?.machines.serve();
    return store;
  } catch (error) {
    if (error instanceof SandboxesHeldError) return null;
    throw error;
  }
}

/**
 * Detects what this machine can isolate, and reads the operator's specs, for `convoke doctor`. Rejects with {@link ConfigError} for a file that
 * cannot be used.
 */
export async function findSandboxBackends(
  deps: SandboxStartDeps & Pick<OpenSandboxesDeps, "config" | "dataDir">,
): Promise<SandboxChoice & { readonly specs: SandboxSpecs | null }> {
  // Nothing is started, and so nothing has a way out.
  const ways = new SandboxWays({
    policy: "none",
    limitOf: () => undefined,
    environment: {},
    isOwnListener: () => true,
    boundSecrets: createBoundSecretRegistry(),
    onRecord: () => {},
    logger: silentLogger,
  });
  const specs = await readSandboxSpecs(deps.config.specsFile, deps.config.image);
  const sandboxesDir = join(deps.dataDir, "sandboxes");
  const choice = await openSandboxBackends(toPlatform(deps, { sandboxesDir, ways, specs }));
  return { ...choice, specs };
}

type SandboxParts = {
  readonly sandboxesDir: string;
  readonly ways: SandboxWays;
  readonly specs: SandboxSpecs | null;
};

function toPlatform(
  {
    config,
    dataDir,
    program,
    environment,
    bubblewrap,
  }: SandboxStartDeps & Pick<OpenSandboxesDeps, "config" | "dataDir">,
  { sandboxesDir, ways, specs }: SandboxParts,
): SandboxPlatform {
  const image = config.image ?? specs?.find((spec) => spec.image !== undefined)?.image;
  return {
    sandboxesDir,
    installationId: installationIdOf(dataDir),
    program,
    environment,
    connect: ({ address, key }) => connectToolHost({ address, key }),
    openControlGroups: () => openControlGroups({ uid: ownAccount().uid, environment }),
    self: ownAccount(),
    unprivileged: config.user,
    ways,
    bubblewrap,
    containers: image === undefined ? null : { socketPath: config.engineSocket, image },
  };
}

/** The operator's specs alone where there are any. Rejects with {@link ConfigError} when a requested backend does not work here. */
export function chooseTemplates(
  choice: SandboxChoice,
  config: SandboxConfig,
  specs: SandboxSpecs | null,
): [FleetTemplate, ...FleetTemplate[]] {
  const ports = Object.fromEntries(Object.entries(sandboxPorts).map(([name, port]) => [name, String(port)]));
  if (specs !== null) return specTemplates(specs, choice, config, ports);
  const { backends, preferred, findings } = choice;
  const usable = new Set(backends.map(({ name }) => name));
  const [first, ...rest] =
    config.use === "auto"
      ? [preferred as SandboxBackendName, ...(config.image === null ? [] : (["docker"] as const))]
      : config.use;
  const toTemplate = (backend: SandboxBackendName): FleetTemplate => {
    if (!usable.has(backend)) {
      const reason = findings.find(({ name }) => name === backend)?.detail ?? "not built";
      throw new ConfigError(
        `Sandboxes of ${backend} do not work here: ${reason}. Choose others with CONVOKE_SANDBOX, or off.`,
      );
    }
    return templateOf({ backend }, config, ports);
  };
  return [{ ...toTemplate(first ?? "process"), warm: config.warm }, ...rest.map(toTemplate)];
}
