import { connect as connectSocket } from "node:net";
import { once } from "node:events";
import { allowedEnvironment } from "@convoke/tool-host";
import { findGuardianMark, markerVariable, readBootId } from "./find-processes.ts";
import { launchDetached } from "./launch.ts";
import {
  endOf,
  keepMark,
  killLeftovers,
  LocalSandbox,
  readLiveRecord,
  removeLocalSandbox,
} from "./local-sandbox.ts";
import type { LocalRecord } from "./local-sandbox.ts";
import { join } from "node:path";
import {
  listSandboxDirectories,
  prepareSandboxDirectory,
  prepareWorkspace,
  sandboxDirectory,
  writeKey,
} from "./sandbox-directory.ts";
import { SandboxError } from "./sandbox.ts";
import type { SandboxBackend, SandboxHandle, SandboxRecord, StartOrder } from "./sandbox.ts";
import type { LocalBackendDeps } from "./local-backend-deps.ts";
import { ToolHostLink } from "./tool-host-link.ts";
import { memoryLimitKiB, nodeArguments, orderedEnvironment, serveArguments } from "./tool-host-program.ts";

/**
 * A tool host as a plain process of the same user. It isolates nothing: it outlives the server, has its own session and
 * sees none of the server's secrets, but can read and change whatever its user can.
 */
export function createProcessBackend(deps: LocalBackendDeps): SandboxBackend {
  return new ProcessBackend(deps);
}

class ProcessBackend implements SandboxBackend {
  readonly name = "process";
  readonly startDeadlineMs = 60_000;
  readonly #deps: LocalBackendDeps;

  constructor(deps: LocalBackendDeps) {
    this.#deps = deps;
  }

  async start(order: StartOrder): Promise<SandboxHandle> {
    const { spec, key, onProgress, signal } = order;
    refuseWhatCannotHold(order);
    onProgress({ phase: "preparing" });
    const directory = sandboxDirectory(this.#deps.sandboxesDir, spec.id);
    await killLeftovers(directory, this.#marker(spec.id));
    await prepareSandboxDirectory(directory, undefined);
    const workspaceDir = await prepareWorkspace(directory, spec.workspaceDir, undefined);
    await writeKey(directory, key, undefined);
    signal.throwIfAborted();
    try {
      onProgress({ phase: "launching" });
      const { program, connect } = this.#deps;
      const { socketFile: socket, keyFile, stateDir } = directory;
      const entry = join(program.root, program.entry);
      const leader = await launchDetached({
        file: "/bin/sh",
        args: [
          "-c",
          limitScript,
          "convoke-sandbox",
          memoryLimitKiB(spec.limits.memoryMb),
          program.node,
          ...nodeArguments,
          entry,
          ...serveArguments({ socket, keyFile, stateDir }),
        ],
        cwd: workspaceDir,
        environment: this.#environment(order),
        directory,
      });
      onProgress({ phase: "connecting" });
      await new ToolHostLink({ directory, key, connect }).untilReady(endOf(leader, directory), signal);
      const mark = findGuardianMark(leader);
      await keepMark(directory, mark);
      return this.#handle(
        {
          backend: this.name,
          id: spec.id,
          bootId: readBootId(),
          roots: [leader],
          mark,
          workspaceDir,
          stateDir,
        },
        key,
      );
    } catch (error) {
      await killLeftovers(directory, this.#marker(spec.id));
      throw error;
    }
  }

  async reattach(record: SandboxRecord, key: string): Promise<SandboxHandle | null> {
    const live = readLiveRecord(record);
    return live === null ? null : this.#handle(live, key);
  }

  async listOwned(): Promise<readonly string[]> {
    return listSandboxDirectories(this.#deps.sandboxesDir);
  }

  async remove(id: string): Promise<void> {
    await removeLocalSandbox(sandboxDirectory(this.#deps.sandboxesDir, id), this.#marker(id));
  }

  #handle(record: LocalRecord, key: string): SandboxHandle {
    const directory = sandboxDirectory(this.#deps.sandboxesDir, record.id);
    return new LocalSandbox({
      record,
      directory,
      key,
      connect: this.#deps.connect,
      connectPort: async (port) => {
        const socket = connectSocket(port, "127.0.0.1");
        await once(socket, "connect");
        return socket;
      },
    });
  }

  #environment({ spec }: StartOrder): Record<string, string> {
    return {
      ...allowedEnvironment(this.#deps.environment),
      ...orderedEnvironment(spec.environment),
      [markerVariable]: this.#marker(spec.id),
    };
  }

  #marker(id: string): string {
    return `${this.#deps.installationId}.${id}`;
  }
}

/** Memory per process (KiB of private writable memory) and no core files; then it becomes the program. */
const limitScript = `ulimit -c 0; ulimit -d "$1" || exit 1; shift; exec "$@"`;

function refuseWhatCannotHold({ spec }: StartOrder): void {
  if (spec.network === "none") {
    throw new SandboxError(
      "The process sandbox cannot keep anything from the network. Ask for network on, or use bubblewrap or docker.",
    );
  }
  if (spec.image !== undefined) {
    throw new SandboxError("The process sandbox has no images; leave the image out or use docker.");
  }
}
