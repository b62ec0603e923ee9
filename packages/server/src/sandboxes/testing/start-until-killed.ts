import { connectToolHost } from "@convoke/tool-host";
import { createBubblewrapBackend } from "../bubblewrap.ts";
import { createProcessBackend } from "../process.ts";
import { noControlGroups } from "../control-groups/control-groups.ts";
import type { LocalBackendDeps } from "../local-backend-deps.ts";
import { createTestWays } from "./test-ways.ts";

/** What the process that is killed is told: a start without a row, as one whose row was lost. */
export type StartOrderOfTest = {
  readonly backend: "bubblewrap" | "process";
  readonly deps: Omit<LocalBackendDeps, "connect" | "openControlGroups" | "ways">;
  readonly id: string;
  readonly workspaceDir: string;
};

/** Run by {@link ../crash-cycles.int.test.ts}: starts a sandbox, says each phase and `running`, and waits to be killed. */
// Listening to the end keeps the process alive: otherwise it would be gone by itself before it is killed.
process.on("message", (order: StartOrderOfTest) => void start(order));

async function start({ backend, deps, id, workspaceDir }: StartOrderOfTest): Promise<void> {
  const connect: LocalBackendDeps["connect"] = ({ address, key }) => connectToolHost({ address, key });
  const self = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  const unprivileged = { uid: 65_534, gid: 65_534 };
  const ways = createTestWays("registries");
  const openControlGroups: LocalBackendDeps["openControlGroups"] = async () => noControlGroups("a test");
  const connected = { ...deps, connect, ways, openControlGroups };
  const created =
    backend === "process"
      ? createProcessBackend(connected)
      : createBubblewrapBackend({ ...connected, self, unprivileged });
  await created.start({
    spec: {
      id,
      workspaceDir,
      environment: {},
      limits: { memoryMb: 512, cpus: 1, pids: 128 },
      network: "on",
    },
    keys: { toolHost: "key-of-a-lost-sandbox", authority: "authority-of-a-lost-sandbox" },
    onProgress: ({ phase }) => process.send?.(phase),
    signal: new AbortController().signal,
  });
  process.send?.("running");
}
