import { once } from "node:events";
import { connect as connectSocket } from "node:net";
import { join } from "node:path";
import { allowedEnvironment } from "@convoke/tool-host";
import { findGuardianMark, markerVariable } from "./find-processes.ts";
import { launchDetached } from "./launch.ts";
import { LocalBackend, type LaunchedProcesses, type LaunchPlace } from "./local-backend.ts";
import type { LocalBackendDeps } from "./local-backend-deps.ts";
import { SandboxError, type SandboxBackend, type StartOrder } from "./sandbox.ts";
import { memoryLimitKiB, nodeArguments, orderedEnvironment, serveArguments } from "./tool-host-program.ts";

/**
 * A tool host as a plain process of the same user. It isolates nothing: it outlives the server, has its own session and
 * sees none of the server's secrets, but can read and change whatever its user can.
 */
export function createProcessBackend(deps: LocalBackendDeps): SandboxBackend {
  return new LocalBackend(deps, {
    name: "process",
    plan: async (order) => {
      refuseWhatCannotHold(order);
      return { owner: undefined, launch: (place) => launch(order, place, deps) };
    },
    connectPort: async (_directory, port) => {
      const socket = connectSocket(port, "127.0.0.1");
      await once(socket, "connect");
      return socket;
    },
    ways: null,
  });
}

async function launch(
  { spec }: StartOrder,
  { directory, workspaceDir, marker }: LaunchPlace,
  { program, environment }: LocalBackendDeps,
): Promise<LaunchedProcesses> {
  const { socketFile: socket, keyFile, stateDir } = directory;
  const leader = await launchDetached({
    file: "/bin/sh",
    args: [
      "-c",
      limitScript,
      "convoke-sandbox",
      memoryLimitKiB(spec.limits.memoryMb),
      program.node,
      ...nodeArguments,
      join(program.root, program.entry),
      ...serveArguments({ socket, keyFile, stateDir }),
    ],
    cwd: workspaceDir,
    environment: {
      ...allowedEnvironment(environment),
      ...orderedEnvironment(spec.environment),
      [markerVariable]: marker,
    },
    directory,
  });
  return { roots: [leader], findMark: () => findGuardianMark(leader), workspaceDir, stateDir };
}

/** Memory per process (KiB of private writable memory) and no core files; then it becomes the program. */
const limitScript = `ulimit -c 0; ulimit -d "$1" || exit 1; shift; exec "$@"`;

function refuseWhatCannotHold({ spec }: StartOrder): void {
  if (spec.network === "none") {
    throw new SandboxError(
      "The process sandbox cannot keep anything from the network. Ask for network on, or use bubblewrap or docker.",
    );
  }
  if (spec.image !== undefined || spec.runtime !== undefined) {
    throw new SandboxError("The process sandbox has no images; leave the image out or use docker.");
  }
}
