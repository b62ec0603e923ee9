import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { readProcess } from "@convoke/tool-host";
import { bubblewrapArguments, inside, sandboxBinds, settingsFiles } from "./bubblewrap-arguments.ts";
import { bubblewrapCommand, type BubblewrapOrder } from "./bubblewrap-command.ts";
import { markerVariable } from "./find-processes.ts";
import { launchDetached } from "./launch.ts";
import { LocalBackend } from "./local-backend.ts";
import type { LocalBackendDeps } from "./local-backend-deps.ts";
import type { LaunchPlace } from "./local-backend.ts";
import { connectForwardedPort, forwarderBind } from "./port-forwarder-client.ts";
import { chooseNetwork, inOwnNetwork, openTranslatedNetwork, resolverSettings } from "./outside-network.ts";
import type { OutsideNetwork } from "./outside-network.ts";
import { findSame } from "./process-group.ts";
import type { ProcessKey } from "./process-group.ts";
import { chooseAccount, ownerOf } from "./sandbox-account.ts";
import type { SandboxAccounts } from "./sandbox-account.ts";
import { readJsonIfThere, readTail } from "./sandbox-directory.ts";
import type { Account, SandboxDirectory } from "./sandbox-directory.ts";
import { SandboxError } from "./sandbox.ts";
import type { SandboxBackend, StartOrder } from "./sandbox.ts";
import { nodeArguments, programPlace, serveArguments } from "./tool-host-program.ts";

export type BubblewrapDeps = LocalBackendDeps &
  SandboxAccounts & {
    /** With network `on`, whether the machine's own may be used where no other can be made. */
    readonly isNetworkShared?: boolean;
    /** Instead of the one beside these sources, e.g. that of a built command whose tool host is started. */
    readonly forwarderFile?: string;
  };

/** Linux namespaces without a daemon: own files, users, processes, hostname and network; the guide lists what holds. */
export function createBubblewrapBackend(deps: BubblewrapDeps): SandboxBackend {
  return new LocalBackend(deps, {
    name: "bubblewrap",
    plan: async (order) => {
      refuseWhatCannotHold(order);
      const { spec, signal } = order;
      const path = pathOf(deps);
      const isSharingAllowed = deps.isNetworkShared === true;
      const network = chooseNetwork(spec.network, { path, isSharingAllowed });
      const account = await chooseAccount(spec.workspaceDir, deps);
      return {
        owner: ownerOf(account, deps),
        launch: async (place) => {
          const { directory, marker } = place;
          const outer = await launch(order, { ...place, account, network }, deps);
          const init = await untilInit(directory, outer, signal);
          const carriers =
            network === "translated"
              ? [await openTranslatedNetwork({ holder: outer, directory, marker, path, signal })]
              : [];
          return {
            roots: [outer, init, ...carriers],
            findMark: () => null,
            workspaceDir: inside.workspace,
            stateDir: inside.state,
          };
        },
      };
    },
    connectPort: (directory, port) => connectForwardedPort(join(directory.runDir, "ports.sock"), port),
  });
}

/** The process that is returned lives as long as the tool host, the one below it as long as anything inside. */
async function launch(
  { spec }: StartOrder,
  place: LaunchPlace & { readonly account: Account; readonly network: OutsideNetwork },
  deps: BubblewrapDeps,
): Promise<ProcessKey> {
  const { directory, workspaceDir, marker, account, network } = place;
  const { program, environment } = deps;
  const { runDir: run, stateDir: state, homeDir: home } = directory;
  const forwarder = forwarderBind(deps.forwarderFile);
  const statusFile = openSync(statusPath(directory), "w", 0o600);
  try {
    const order = {
      account: ownerOf(account, deps) === undefined ? null : account,
      binds: [forwarder, ...sandboxBinds({ workspace: workspaceDir, run, state, home }, program)],
      toArguments: (binds) => bubblewrapArguments(spec, { account, network, binds, environment }),
      files: settingsFiles(account, spec, resolverSettings(network)),
      // The marker only serves to find the process: its arguments are visible to everybody. The rest begins with --clearenv.
      visible: ["--setenv", markerVariable, marker],
      limits: spec.limits,
      command: [
        programPlace.node,
        ...nodeArguments,
        "--import",
        `file://${forwarder.target}`,
        join(programPlace.root, program.entry),
        ...serveArguments({
          socket: `${inside.run}/host.sock`,
          keyFile: `${inside.run}/key`,
          stateDir: inside.state,
        }),
      ],
      ...(network === "translated" ? { wrap: inOwnNetwork } : {}),
    } satisfies BubblewrapOrder;
    return await launchDetached({
      ...bubblewrapCommand(order, statusFile),
      cwd: "/",
      environment: {
        PATH: pathOf(deps),
        [markerVariable]: marker,
      },
      directory,
    });
  } finally {
    closeSync(statusFile);
  }
}

function pathOf({ environment }: BubblewrapDeps): string {
  return environment["PATH"] ?? "/usr/bin:/bin";
}

function statusPath(directory: SandboxDirectory): string {
  return join(directory.root, "status.json");
}

/** Waits for bubblewrap to name the first process inside: killing it ends all of them, whatever they did. */
async function untilInit(
  directory: SandboxDirectory,
  outer: ProcessKey,
  signal: AbortSignal,
): Promise<ProcessKey> {
  for (;;) {
    signal.throwIfAborted();
    const pid = (await readJsonIfThere(statusPath(directory)))?.["child-pid"];
    const entry = typeof pid === "number" ? readProcess(pid) : undefined;
    if (entry !== undefined) return { pid: entry.pid, startTicks: entry.startTicks };
    if (findSame(outer) === undefined) {
      const log = (await readTail(directory.logFile, 2_000)).trim();
      throw new SandboxError(`bubblewrap could not start the sandbox. ${log}`);
    }
    await sleep(pollMs);
  }
}

const pollMs = 3;

function refuseWhatCannotHold({ spec }: StartOrder): void {
  if (spec.image !== undefined || spec.runtime !== undefined) {
    throw new SandboxError(
      "The bubblewrap sandbox runs this machine's programs, not images; leave the image out or use docker.",
    );
  }
}
