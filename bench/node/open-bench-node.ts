import { mkdtempDisposable } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createValidator } from "@convoke/protocol/validate";
import { createInProcessHost } from "@convoke/tool-host";
import { readConfig } from "../../packages/server/src/boot/config.ts";
import type { ConversationConfig } from "../../packages/server/src/engine/conversation-config.ts";
import type { Conversation } from "../../packages/server/src/engine/conversation.ts";
import type { Directory } from "../../packages/server/src/directory/directory.ts";
import { noActivity } from "../../packages/server/src/lib/watchdog.ts";
import { PageCache } from "../../packages/server/src/events/page-cache.ts";
import { socketTimes } from "../../packages/server/src/faces/agent-server/sockets/socket-times.ts";
import { localUser } from "../../packages/server/src/security/caller.ts";
import { ByteTunnels } from "../../packages/server/src/faces/machines/byte-tunnels.ts";
import { Peers } from "../../packages/server/src/cluster/peers.ts";
import type { Journal } from "../../packages/server/src/journal/journal.ts";
import { silentLogger } from "../../packages/server/src/lib/logger.ts";
import type { Model } from "../../packages/server/src/models/model.ts";
import { createBoundSecretRegistry } from "../../packages/server/src/egress/bound-secret-registry.ts";
import { systemClock } from "../../packages/server/src/lib/clock.ts";
import { PolicyStore } from "../../packages/server/src/settings/policy-store.ts";
import { WallHolds } from "../../packages/server/src/walls/wall-holds.ts";
import { openConversations } from "../../packages/server/src/boot/open-conversations.ts";
import { openObservability } from "../../packages/server/src/boot/open-observability.ts";
import { openStore } from "../../packages/server/src/boot/open-store.ts";
import { openListener, openSurface } from "../../packages/server/src/boot/open-surface.ts";
import { createQuickTools } from "../../packages/server/src/testing/quick-tools.ts";

/** The parts of a server that benches use. */
export type BenchNode = AsyncDisposable & {
  readonly journal: Journal;
  readonly directory: Directory;
  readonly port: number;
  readonly config: ConversationConfig;
  /** Creates an empty conversation. */
  readonly create: (id: string) => Promise<void>;
  readonly open: (id: string) => Promise<Conversation>;
};

export type BenchNodeOptions = {
  /** Answers every model request of every conversation; without it no run may start. */
  readonly model?: Model;
  /** A PostgreSQL that several nodes share; without it everything is in the folder. */
  readonly databaseUrl?: string;
};

/**
 * A node without keys on a free port of 127.0.0.1, in a temporary folder, assembled from the parts of `openServer`. Its tools start no
 * processes, and it has no background work.
 */
export async function openBenchNode(options: BenchNodeOptions = {}): Promise<BenchNode> {
  await using scope = new AsyncDisposableStack();
  const folder = scope.use(await mkdtempDisposable(join(tmpdir(), "convoke-bench-"))).path;
  const overrides = { dataDir: folder, workspaceRoot: folder, isAuthDisabled: true };
  const { databaseUrl } = options;
  const environment =
    databaseUrl === undefined ? {} : { CONVOKE_DATABASE: databaseUrl, CONVOKE_SECRET_KEY: "bench" };
  const serverConfig = readConfig(environment, overrides);
  const observability = scope.use(await openObservability(serverConfig, silentLogger));
  const store = scope.use(await openStore({ ...serverConfig, logger: silentLogger }));
  const policies = await PolicyStore.open({ database: store.database, clock: systemClock });
  const toolHost = scope.use(createInProcessHost({ tools: createQuickTools().tools, environment: {} }));
  const shared = {
    config: serverConfig,
    toolHost,
    sandboxes: null,
    validator: createValidator(),
    logger: silentLogger,
  };
  const conversations = scope.use(
    await openConversations({
      ...shared,
      ...store,
      walls: null,
      policies,
      wallHolds: new WallHolds({ ...store, policies, logger: silentLogger }),
      boundSecrets: createBoundSecretRegistry(),
      observer: observability.observer,
      moreToolSources: [],
      mcp: {},
      serverKeys: [],
      isAttended: false,
      hasSharedSandboxes: false,
      activity: noActivity,
      demo: null,
      wrap: { model: () => options.model ?? noModel() },
      onReview: () => {},
      gitWays: { environment: {}, isOwnListener: () => false, onRecord: () => {}, onUnexpected: () => {} },
      onRetention: () => {},
    }),
  );
  const listener = await openListener({ ...shared, observability, times: socketTimes });
  const peers = new Peers({ cluster: store.cluster });
  scope.use(
    await openSurface({
      pages: new PageCache(),
      ...shared,
      observer: observability.observer,
      listener,
      store,
      conversations,
      times: socketTimes,
      peers,
      tunnels: new ByteTunnels(listener.app, peers),
      environment: {},
      ownKeys: [],
      processGroup: undefined,
      demo: null,
      faces: [],
      isReady: () => true,
    }),
  );
  await listener.app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = listener.app.server.address() as AddressInfo;
  await store.cluster.announce(`http://127.0.0.1:${port}`);
  const { journal } = store;
  const { directory } = conversations;
  const config = sampleConfig(join(folder, "work"));
  const owned = scope.move();
  return {
    journal,
    directory,
    config,
    port,
    create: async (id) => {
      const secrets = { llm: { api_key: "bench-key" }, sources: {} };
      await directory.create(localUser, { id, title: null, config, secrets });
    },
    open: (id) => directory.open(localUser, id),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** The conversation id for this number. */
export function benchId(number: number): string {
  return `00000000-0000-4000-8000-${number.toString(16).padStart(12, "0")}`;
}

function sampleConfig(workingDir: string): ConversationConfig {
  const llm = { model: "openai/bench", base_url: "http://127.0.0.1:9/v1", api_key: null };
  return {
    agent: { kind: "Agent", llm, tools: [{ name: "terminal" }, { name: "grep" }] },
    workspace: { kind: "LocalWorkspace", working_dir: workingDir },
    confirmation_policy: { kind: "NeverConfirm" },
    security_analyzer: null,
    max_iterations: 1_000_000,
    stuck_detection: true,
    tags: { team: "bench" },
  };
}

function noModel(): never {
  throw new Error("This bench starts no runs.");
}
