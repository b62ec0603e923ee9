import { mkdtempDisposable } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agentServerRoutes } from "@convoke/protocol";
import { createValidator } from "@convoke/protocol/validate";
import { createInProcessHost } from "@convoke/tool-host";
import type { ConversationConfig } from "../../packages/server/src/conversation/conversation-config.ts";
import type { Conversation } from "../../packages/server/src/conversation/conversation.ts";
import { Directory } from "../../packages/server/src/conversation/directory.ts";
import { conversationHandlers } from "../../packages/server/src/faces/agent-server/conversation-routes.ts";
import { eventHandlers } from "../../packages/server/src/faces/agent-server/event-routes.ts";
import { mountEventSocket } from "../../packages/server/src/faces/agent-server/sockets/event-socket.ts";
import { serverHandlers } from "../../packages/server/src/faces/agent-server/server-routes.ts";
import { socketTimes } from "../../packages/server/src/faces/agent-server/sockets/socket-times.ts";
import { createKeyRing, localUser } from "../../packages/server/src/http/auth.ts";
import { createGuard } from "../../packages/server/src/http/guard.ts";
import { mountRoutes } from "../../packages/server/src/http/mount.ts";
import { createAuthenticator, openHttp } from "../../packages/server/src/http/open-http.ts";
import type { Journal } from "../../packages/server/src/journal/journal.ts";
import { openJournal } from "../../packages/server/src/journal/open-journal.ts";
import { silentLogger } from "../../packages/server/src/lib/logger.ts";
import type { Model } from "../../packages/server/src/models/model.ts";
import { openSecretBox } from "../../packages/server/src/security/seal.ts";
import { createQuickTools } from "../../packages/server/src/testing/quick-tools.ts";

/** The parts of a server, put together as `openServer` does, within reach of a bench. */
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
  /** Answers every request of every conversation; without it no run may start. */
  readonly model?: Model;
};

/** A node without keys on a free port of 127.0.0.1, in a folder that goes with it; its tools start no processes. */
export async function openBenchNode(options: BenchNodeOptions = {}): Promise<BenchNode> {
  await using scope = new AsyncDisposableStack();
  const folder = scope.use(await mkdtempDisposable(join(tmpdir(), "convoke-bench-"))).path;
  const journal = scope.use(await openJournal({ dataDir: folder }));
  const toolHost = scope.use(createInProcessHost({ tools: createQuickTools().tools, environment: {} }));
  const validator = createValidator();
  const directory = scope.use(
    new Directory({
      journal,
      chooseHost: async () => ({ toolHost, stateDir: null }),
      validator,
      mcp: { fetch, clientVersion: "bench" },
      secretBox: await openSecretBox(join(folder, "master-key")),
      openModel: () => options.model ?? noModel(),
      dataDir: folder,
      workspaceRoot: folder,
      nowMs: Date.now,
      logger: silentLogger,
    }),
  );
  const keys = createKeyRing([], { find: () => null, isUsable: () => false });
  const guard = createGuard({ boundHost: "127.0.0.1", allowedHosts: [], allowedOrigins: [] });
  const app = await openHttp({ guard, logger: silentLogger, onActivity: () => {} });
  scope.defer(() => app.close());
  const server = serverHandlers({
    toolHost,
    nowMs: Date.now,
    lastActivityMs: Date.now,
    isReady: () => true,
    serverVersion: "bench",
  });
  const handlers = {
    ...server,
    ...conversationHandlers({ directory }),
    ...eventHandlers({ journal, directory }),
  };
  const operations = Object.keys(handlers) as (keyof typeof handlers)[];
  const routes = Object.fromEntries(operations.map((name) => [name, agentServerRoutes[name]]));
  mountRoutes(app, routes, handlers, { validator, authenticate: createAuthenticator(keys) });
  mountEventSocket(app, {
    journal,
    validator,
    logger: silentLogger,
    times: socketTimes,
    scopeOf: () => ({ directory, keys }),
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
  const config = sampleConfig(join(folder, "work"));
  const owned = scope.move();
  return {
    journal,
    directory,
    config,
    port: (app.server.address() as AddressInfo).port,
    create: async (id) => {
      const secrets = { llm: { api_key: "bench-key" }, sources: {} };
      await directory.create(localUser, { id, title: null, config, secrets });
    },
    open: (id) => directory.open(localUser, id),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** The id of the conversation with this number. */
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
