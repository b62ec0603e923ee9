import { prepareSandboxDirectory, prepareWorkspace, writeKey } from "./sandbox-directory.ts";
import type { Account, SandboxDirectory } from "./sandbox-directory.ts";
import type { SandboxHandle, StartOrder } from "./sandbox.ts";
import { ToolHostLink, type ConnectToolHost } from "./tool-host-link.ts";

/** What a backend adds to the start of a sandbox. */
export type StartParts = {
  readonly directory: SandboxDirectory;
  readonly connect: ConnectToolHost;
  /** The owner of the sandbox's own files; undefined leaves them to the server's user. */
  readonly owner: Account | undefined;
  /** Ends what an earlier start left, and what this one has launched when it fails. */
  readonly clear: () => Promise<void>;
  /** Gets what a launch needs and this machine does not have. */
  readonly fetch: () => Promise<void>;
  /** Launches a tool host whose workspace is at this path of the machine. */
  readonly launch: (workspaceDir: string) => Promise<Launched>;
};

export type Launched = {
  /** Why the tool host has ended; null while it runs. */
  readonly findEnd: () => Promise<string | null>;
  /** Called once the tool host answers. */
  readonly toHandle: () => Promise<SandboxHandle>;
};

/** Starts a sandbox, whatever its backend. Nothing that was launched is left when it throws. */
export async function startSandbox(order: StartOrder, parts: StartParts): Promise<SandboxHandle> {
  const { spec, keys, onProgress, signal } = order;
  const { directory, connect, owner } = parts;
  onProgress({ phase: "preparing" });
  await parts.clear();
  await prepareSandboxDirectory(directory, owner);
  const workspaceDir = await prepareWorkspace(directory, spec.workspaceDir, owner);
  await writeKey(directory, keys.toolHost, owner);
  await parts.fetch();
  signal.throwIfAborted();
  try {
    onProgress({ phase: "launching" });
    const { findEnd, toHandle } = await parts.launch(workspaceDir);
    onProgress({ phase: "connecting" });
    await new ToolHostLink({ directory, key: keys.toolHost, connect }).untilReady(findEnd, signal);
    return await toHandle();
  } catch (error) {
    await parts.clear();
    throw error;
  }
}
