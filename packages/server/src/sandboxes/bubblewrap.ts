import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { readProcess } from "@convoke/tool-host";
import { insideEgress, trustFiles, type InsideTrust } from "../egress/inside-egress.ts";
import { bubblewrapArguments, inside, sandboxBinds, settingsFiles } from "./bubblewrap-arguments.ts";
import { bubblewrapCommand, type BubblewrapOrder } from "./bubblewrap-command.ts";
import type { ControlGroups } from "./control-groups/control-groups.ts";
import { markerVariable } from "./find-processes.ts";
import { launchDetached } from "./launch.ts";
import { LocalBackend, type LaunchPlace } from "./local-backend.ts";
import type { LocalBackendDeps } from "./local-backend-deps.ts";
import { connectForwardedPort, forwarderBind } from "./port-forwarder-client.ts";
import { findSame, type ProcessKey } from "./process-group.ts";
import { chooseAccount, ownerOf, type SandboxAccounts } from "./sandbox-account.ts";
import { readJsonIfThere, readTail, type Account, type SandboxDirectory } from "./sandbox-directory.ts";
import { SandboxError, type SandboxBackend, type StartOrder } from "./sandbox.ts";
import { programPlace, serveCommand } from "./tool-host-program.ts";

export type BubblewrapDeps = LocalBackendDeps &
  SandboxAccounts & {
    /** Instead of the one beside these sources, e.g. that of a built command whose tool host is started. */
    readonly forwarderFile?: string;
  };

/** Linux namespaces without a daemon: own files, users, processes, hostname and network; the guide lists what holds. */
export function createBubblewrapBackend(deps: BubblewrapDeps): SandboxBackend {
  let opened: Promise<ControlGroups> | null = null;
  const groups = (): Promise<ControlGroups> => (opened ??= deps.openControlGroups());
  return new LocalBackend(deps, {
    name: "bubblewrap",
    plan: async (order) => {
      refuseWhatCannotHold(order);
      const { spec, keys, signal } = order;
      const account = await chooseAccount(spec.workspaceDir, deps);
      const owner = ownerOf(account, deps);
      return {
        owner,
        launch: async (place) => {
          const { directory } = place;
          const way = { id: spec.id, directory, authority: keys.authority, policy: spec.policy };
          const trust = spec.network === "none" ? null : await deps.ways.open(way, owner);
          const outer = await launch(order, { ...place, account, trust, groups: await groups() }, deps);
          const init = await untilInit(directory, outer, signal);
          return {
            roots: [outer, init],
            findMark: () => null,
            workspaceDir: inside.workspace,
            stateDir: inside.state,
          };
        },
      };
    },
    connectPort: (directory, port) => connectForwardedPort(join(directory.runDir, "ports.sock"), port),
    ways: deps.ways,
    clear: async (id) => await (await groups()).remove(groupName(deps, id)),
  });
}

/** The process that is returned lives as long as the tool host, the one below it as long as anything inside. */
async function launch(
  { spec }: StartOrder,
  place: LaunchPlace & {
    readonly account: Account;
    readonly trust: InsideTrust | null;
    readonly groups: ControlGroups;
  },
  deps: BubblewrapDeps,
): Promise<ProcessKey> {
  const { directory, workspaceDir, marker, account, trust, groups } = place;
  const { program, environment } = deps;
  const { runDir: run, stateDir: state, homeDir: home } = directory;
  const egress = trust === null ? null : directory.egressDir;
  const forwarder = forwarderBind(deps.forwarderFile);
  const statusFile = openSync(statusPath(directory), "w", 0o600);
  try {
    const order = {
      account: ownerOf(account, deps) === undefined ? null : account,
      binds: [forwarder, ...sandboxBinds({ workspace: workspaceDir, run, state, home, egress }, program)],
      toArguments: (binds) => bubblewrapArguments(spec, { account, trust, binds, environment }),
      files: { ...settingsFiles(account, spec), ...(trust === null ? {} : await trustFiles(trust)) },
      // The marker only serves to find the process: its arguments are visible to everybody. The rest begins with --clearenv.
      visible: ["--setenv", markerVariable, marker],
      limits: spec.limits,
      command: serveCommand(program, programPlace, forwarder.target, {
        socket: `${inside.run}/host.sock`,
        keyFile: `${inside.run}/key`,
        stateDir: inside.state,
        egress: trust === null ? undefined : insideEgress.socket,
      }),
    } satisfies BubblewrapOrder;
    const group = await groups.open(groupName(deps, spec.id), spec.limits);
    const command = bubblewrapCommand(order, statusFile);
    return await launchDetached({
      ...command,
      ...group.wrap(command),
      cwd: "/",
      environment: {
        ...group.environment,
        PATH: pathOf(deps),
        [markerVariable]: marker,
      },
      directory,
    });
  } finally {
    closeSync(statusFile);
  }
}

function groupName({ installationId }: BubblewrapDeps, id: string): string {
  return `sandbox-${installationId}-${id}`;
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
