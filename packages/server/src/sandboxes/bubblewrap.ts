import { closeSync, openSync } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { readProcess } from "@convoke/tool-host";
import { bubblewrapArguments, inside, sandboxBinds, settingsFiles } from "./bubblewrap-arguments.ts";
import { markerVariable, readBootId } from "./find-processes.ts";
import { launchDetached } from "./launch.ts";
import { endOf, killLeftovers, LocalSandbox, readLiveRecord, removeLocalSandbox } from "./local-sandbox.ts";
import type { LocalRecord } from "./local-sandbox.ts";
import { connectPortDoor, doorBind } from "./port-door-client.ts";
import { chooseNetwork, inOwnNetwork, openTranslatedNetwork, resolverSettings } from "./outside-network.ts";
import type { OutsideNetwork } from "./outside-network.ts";
import { findSame } from "./process-group.ts";
import type { ProcessKey } from "./process-group.ts";
import type { LocalBackendDeps } from "./local-backend-deps.ts";
import {
  listSandboxDirectories,
  prepareSandboxDirectory,
  prepareWorkspace,
  readJsonIfThere,
  readTail,
  sandboxDirectory,
  writeKey,
} from "./sandbox-directory.ts";
import type { Account, SandboxDirectory } from "./sandbox-directory.ts";
import { SandboxError } from "./sandbox.ts";
import type { SandboxBackend, SandboxHandle, SandboxRecord, StartOrder } from "./sandbox.ts";
import { systemCallFilter } from "./seccomp.ts";
import { stagedCommand, stagedPath } from "./staged-command.ts";
import { ToolHostLink } from "./tool-host-link.ts";
import { memoryLimitKiB, nodeArguments, programPlace, serveArguments } from "./tool-host-program.ts";

export type BubblewrapDeps = LocalBackendDeps & {
  /** The user of this process, from the kernel. */
  readonly self: Account;
  /** With network `on`, whether the machine's own may be used where no other can be made. */
  readonly isNetworkShared?: boolean;
  /** Instead of the one beside these sources, e.g. that of a built command whose tool host is started. */
  readonly doorFile?: string;
  /** Who sandboxes run as when this process is root and the workspace's owner is root too. */
  readonly unprivileged: Account;
};

/** Linux namespaces without a daemon: own files, users, processes, hostname and network; the guide lists what holds. */
export function createBubblewrapBackend(deps: BubblewrapDeps): SandboxBackend {
  return new BubblewrapBackend(deps);
}

class BubblewrapBackend implements SandboxBackend {
  readonly name = "bubblewrap";
  readonly startDeadlineMs = 60_000;
  readonly #deps: BubblewrapDeps;

  constructor(deps: BubblewrapDeps) {
    this.#deps = deps;
  }

  async start(order: StartOrder): Promise<SandboxHandle> {
    const { spec, key, onProgress, signal } = order;
    refuseWhatCannotHold(order);
    const path = this.#deps.environment["PATH"] ?? "/usr/bin:/bin";
    const network = chooseNetwork(spec.network, {
      path,
      isSharingAllowed: this.#deps.isNetworkShared === true,
    });
    onProgress({ phase: "preparing" });
    const directory = sandboxDirectory(this.#deps.sandboxesDir, spec.id);
    await killLeftovers(directory, this.#marker(spec.id));
    const account = await this.#chooseAccount(spec.workspaceDir);
    const given = this.#isRoot ? account : undefined;
    await prepareSandboxDirectory(directory, given);
    const workspaceDir = await prepareWorkspace(directory, spec.workspaceDir, given);
    await writeKey(directory, key, given);
    signal.throwIfAborted();
    try {
      onProgress({ phase: "launching" });
      const outer = await this.#launch(order, { directory, workspaceDir, account, network });
      const init = await untilInit(directory, outer, signal);
      const marker = this.#marker(spec.id);
      const carriers =
        network === "translated"
          ? [await openTranslatedNetwork({ holder: outer, directory, marker, path, signal })]
          : [];
      onProgress({ phase: "connecting" });
      const { connect } = this.#deps;
      await new ToolHostLink({ directory, key, connect }).untilReady(endOf(outer, directory), signal);
      const record = {
        backend: this.name,
        id: spec.id,
        bootId: readBootId(),
        roots: [outer, init, ...carriers],
        mark: null,
        workspaceDir: inside.workspace,
        stateDir: inside.state,
      };
      return this.#handle(record, key);
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

  /** The process that is returned lives as long as the tool host, the one below it as long as anything inside. */
  async #launch(
    { spec }: StartOrder,
    place: {
      readonly directory: SandboxDirectory;
      readonly workspaceDir: string;
      readonly account: Account;
      readonly network: OutsideNetwork;
    },
  ): Promise<ProcessKey> {
    const { directory, workspaceDir, account, network } = place;
    const { program, environment } = this.#deps;
    const { runDir: run, stateDir: state, homeDir: home } = directory;
    const door = doorBind(this.#deps.doorFile);
    const binds = [door, ...sandboxBinds({ workspace: workspaceDir, run, state, home }, program)];
    const files = Object.entries(settingsFiles(account, spec, resolverSettings(network)));
    const filter = systemCallFilter(process.arch);
    const args = [
      ...bubblewrapArguments(spec, {
        account,
        network,
        binds: this.#isRoot ? binds.map((bind, index) => ({ ...bind, source: stagedPath(index) })) : binds,
        environment,
      }),
      ...files.flatMap(([path], index) => ["--ro-bind-data", String(descriptors.files + index), path]),
      "--remount-ro",
      "/",
      ...(filter === null ? [] : ["--seccomp", String(descriptors.filter)]),
    ];
    const bubblewrap = [
      // The marker is only to be found by: whoever looks sees the arguments of a process. The rest begins with --clearenv.
      ["bwrap", "--setenv", markerVariable, this.#marker(spec.id)],
      ["--json-status-fd", String(descriptors.status), "--args", String(descriptors.args), "--"],
      ["/bin/bash", "-c", limitScript, "convoke-sandbox"],
      [String(spec.limits.pids), memoryLimitKiB(spec.limits.memoryMb)],
      [
        programPlace.node,
        ...nodeArguments,
        "--import",
        `file://${door.target}`,
        join(programPlace.root, program.entry),
      ],
      serveArguments({
        socket: `${inside.run}/host.sock`,
        keyFile: `${inside.run}/key`,
        stateDir: inside.state,
      }),
    ].flat();
    const command = network === "translated" ? inOwnNetwork(bubblewrap) : bubblewrap;
    const sources = binds.map(({ source }) => source);
    const { file, args: commandArgs } = this.#isRoot
      ? stagedCommand(account, sources, command)
      : { file: command[0] ?? "", args: command.slice(1) };
    const statusFile = openSync(statusPath(directory), "w", 0o600);
    try {
      return await launchDetached({
        file,
        args: commandArgs,
        cwd: "/",
        environment: {
          PATH: environment["PATH"] ?? "/usr/bin:/bin",
          [markerVariable]: this.#marker(spec.id),
        },
        directory,
        descriptors: [
          args.map((argument) => `${argument}\0`).join(""),
          statusFile,
          filter ?? "",
          ...files.map(([, content]) => content),
        ],
      });
    } finally {
      closeSync(statusFile);
    }
  }

  #handle(record: LocalRecord, key: string): SandboxHandle {
    const directory = sandboxDirectory(this.#deps.sandboxesDir, record.id);
    return new LocalSandbox({
      record,
      directory,
      key,
      connect: this.#deps.connect,
      connectPort: (port) => connectPortDoor(join(directory.runDir, "ports.sock"), port),
    });
  }

  get #isRoot(): boolean {
    return this.#deps.self.uid === 0;
  }

  /** Never root: the workspace's owner when that is somebody else, so that what the agent makes is theirs. */
  async #chooseAccount(workspaceDir: string): Promise<Account> {
    const { self, unprivileged } = this.#deps;
    if (!this.#isRoot) return self;
    try {
      const { uid, gid } = await stat(workspaceDir);
      return uid === 0 ? unprivileged : { uid, gid };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return unprivileged;
      throw error;
    }
  }

  #marker(id: string): string {
    return `${this.#deps.installationId}.${id}`;
  }
}

const descriptors = { args: 3, status: 4, filter: 5, files: 6 };

/** Processes and threads of this sandbox, memory per process (KiB of private writable memory), no core files. */
const limitScript = `ulimit -c 0; ulimit -u "$1" && ulimit -d "$2" || exit 1; shift 2; exec "$@"`;

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
  if (spec.image !== undefined) {
    throw new SandboxError(
      "The bubblewrap sandbox runs this machine's programs, not images; leave the image out or use docker.",
    );
  }
}
