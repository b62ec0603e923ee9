import type { HostUnderTest } from "../contract.ts";
import { createInProcessHost } from "../in-process-host.ts";
import type { ListenAddress } from "../rpc/address.ts";
import { connectToolHost } from "../rpc/connect-host.ts";
import { serveToolHost } from "../rpc/serve-host.ts";
import { createLocalWorkspace } from "../workspace/local-workspace.ts";
import { probeTools } from "./probe-tools.ts";
import { openTemporaryDirectory } from "./temporary-directory.ts";

export const testKey = "a key for tests only";

/** A host with the probe tools behind a real socket, both ends in this process. */
export async function openServedHost(listen: (dir: string) => ListenAddress): Promise<HostUnderTest> {
  const directory = await openTemporaryDirectory();
  const inner = createInProcessHost({ tools: probeTools, environment: {}, cancelGraceMs: 50 });
  const served = await serveToolHost({
    host: inner,
    workspace: createLocalWorkspace({ environment: {} }),
    listen: listen(directory.path),
    key: testKey,
  });
  const remote = await connectToolHost({ address: served.address, key: testKey });
  return {
    host: {
      catalogue: remote.catalogue,
      openSession: async (spec) => remote.openSession(spec),
      [Symbol.asyncDispose]: async () => {
        await remote[Symbol.asyncDispose]();
        await served[Symbol.asyncDispose]();
        await inner[Symbol.asyncDispose]();
        await directory[Symbol.asyncDispose]();
      },
    },
    crash: async () => served[Symbol.asyncDispose](),
  };
}
