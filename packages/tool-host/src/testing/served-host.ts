import { join } from "node:path";
import type { Bash } from "../bash/bash.ts";
import { openLocalBash } from "../bash/local-bash.ts";
import type { HostUnderTest } from "./open-bench.ts";
import type { SessionSpec, ToolHost } from "../host.ts";
import { createInProcessHost } from "../in-process-host.ts";
import type { ListenAddress } from "../rpc/address.ts";
import { connectToolHost } from "../rpc/connect-host.ts";
import type { ConnectOptions, RemoteToolHost } from "../rpc/connect-host.ts";
import { serveToolHost } from "../rpc/serve-host.ts";
import type { Served, ServeOptions } from "../rpc/serve-host.ts";
import { createLocalWorkspace } from "../workspace/local-workspace.ts";
import type { Tool, ToolSet } from "../tool.ts";
import { probeTools } from "./probe-tools.ts";
import { openTemporaryDirectory } from "./temporary-directory.ts";

export const testKey = "a key for tests only";

/** A host with the probe tools behind a real socket, both ends in this process. */
export async function openServedHost(listen: (dir: string) => ListenAddress): Promise<HostUnderTest> {
  const bench = await openServedBench({ listen });
  const remote = await bench.connect();
  return {
    host: {
      catalogue: remote.catalogue,
      openSession: async (spec) => remote.openSession(spec),
      startProcess: (spec) => remote.startProcess(spec),
      openShell: async (spec) => remote.openShell(spec),
      listPorts: async (folder) => remote.listPorts(folder),
      [Symbol.asyncDispose]: async () => bench[Symbol.asyncDispose](),
    },
    crash: async () => bench.served[Symbol.asyncDispose](),
  };
}

export type ServedBench = AsyncDisposable & {
  readonly dir: string;
  readonly spec: SessionSpec;
  /** The current server. */
  readonly served: Served;
  connect(options?: Partial<ConnectOptions>): Promise<RemoteToolHost>;
  /** Serves again at the same address; `host` as if in a new process, unless the old one stays. */
  serve(options: { readonly keepsHost: boolean }): Promise<void>;
  /** Ends the commands and serves again, as if in a new process. */
  restartBash(): Promise<void>;
};

export type ServedBenchOptions = {
  readonly listen?: (dir: string) => ListenAddress;
  readonly serve?: Partial<ServeOptions>;
  /** Replaces the probe tools. */
  readonly tools?: readonly (Tool | ToolSet)[];
  readonly environment?: Readonly<Record<string, string>>;
};

/** Everything is closed in reverse on disposal, clients first. */
export async function openServedBench(options: ServedBenchOptions = {}): Promise<ServedBench> {
  const owned = new AsyncDisposableStack();
  const { path: dir } = owned.use(await openTemporaryDirectory());
  const { tools = probeTools, environment = {} } = options;
  const openHost = (): ToolHost => owned.use(createInProcessHost({ tools, environment, cancelGraceMs: 50 }));
  let host = openHost();
  const openBash = (): Bash =>
    owned.use(openLocalBash({ path: join(dir, "bash.sqlite"), environment: { PATH: "/usr/bin:/bin" } }));
  let bash = openBash();
  const serve = async (): Promise<Served> =>
    owned.use(
      await serveToolHost({
        host,
        workspace: createLocalWorkspace({ environment: {} }),
        bash,
        listen: options.listen?.(dir) ?? { socket: join(dir, "host.sock") },
        key: testKey,
        ...options.serve,
      }),
    );
  let served = await serve();
  return {
    dir,
    spec: {
      sessionId: "session",
      workspaceDir: join(dir, "workspace"),
      stateDir: join(dir, "state"),
      tools: ["probe", "second_probe", "reader"].map((name) => ({ name })),
    },
    get served() {
      return served;
    },
    connect: async (changes = {}) => {
      const remote = await connectToolHost({ address: served.address, key: testKey, ...changes });
      return owned.use(remote);
    },
    serve: async ({ keepsHost }) => {
      await served[Symbol.asyncDispose]();
      if (!keepsHost) host = openHost();
      served = await serve();
    },
    restartBash: async () => {
      await served[Symbol.asyncDispose]();
      await bash[Symbol.asyncDispose]();
      bash = openBash();
      served = await serve();
    },
    [Symbol.asyncDispose]: async () => owned.disposeAsync(),
  };
}
