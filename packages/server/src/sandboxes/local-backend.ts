import type { NetworkPolicy } from "@convoke/protocol";
import type { Duplex } from "node:stream";
import { systemTable } from "@convoke/tool-host/system";
import type { LocalBackendDeps } from "./local-backend-deps.ts";
import { endOf, keepMark, killLeftovers, LocalSandbox, readLiveRecord } from "./local-sandbox.ts";
import type { LocalRecord } from "./local-sandbox.ts";
import type { ProcessKey } from "./process-group.ts";
import { listSandboxDirectories, removeSandboxDirectory, sandboxDirectory } from "./sandbox-directory.ts";
import type { Account, SandboxDirectory } from "./sandbox-directory.ts";
import type { SandboxBackend, SandboxHandle, SandboxKeys, SandboxRecord, StartOrder } from "./sandbox.ts";
import type { SandboxWays } from "./sandbox-ways.ts";
import { startSandbox, type Launched } from "./start-sandbox.ts";

/** What differs between the backends whose processes are in this machine's process table. */
export type LocalKind = {
  readonly name: string;
  /** Decides how a sandbox is launched. Throws a SandboxError for what it cannot hold. */
  readonly plan: (order: StartOrder) => Promise<LaunchPlan>;
  readonly connectPort: (directory: SandboxDirectory, port: number) => Promise<Duplex>;
  /** Null where sandboxes have the machine's network. */
  readonly ways: SandboxWays | null;
  /** Removes what a start has made of a sandbox outside of its folder; its processes have ended. */
  readonly clear?: (id: string) => Promise<void>;
};

export type LaunchPlan = {
  /** The owner of the sandbox's own files; undefined leaves them to the server's user. */
  readonly owner: Account | undefined;
  readonly launch: (place: LaunchPlace) => Promise<LaunchedProcesses>;
};

export type LaunchPlace = {
  readonly directory: SandboxDirectory;
  readonly workspaceDir: string;
  /** The value by which the sandbox's first processes are found without a record. */
  readonly marker: string;
};

/** The first process lives as long as the tool host. The paths are those that the tool host sees. */
export type LaunchedProcesses = Pick<LocalRecord, "workspaceDir" | "stateDir"> & {
  readonly roots: readonly [ProcessKey, ...ProcessKey[]];
  /** What everything that the tool host starts carries; null where `roots` lead to everything. */
  readonly findMark: () => string | null;
};

/** Tool hosts as processes of this machine. */
export class LocalBackend implements SandboxBackend {
  readonly startDeadlineMs = 60_000;
  readonly #deps: LocalBackendDeps;
  readonly #kind: LocalKind;

  constructor(deps: LocalBackendDeps, kind: LocalKind) {
    this.#deps = deps;
    this.#kind = kind;
  }

  get name(): string {
    return this.#kind.name;
  }

  async start(order: StartOrder): Promise<SandboxHandle> {
    const { owner, launch } = await this.#kind.plan(order);
    const directory = this.#directory(order.spec.id);
    const marker = this.#marker(order.spec.id);
    let launched: readonly ProcessKey[] = [];
    return startSandbox(order, {
      directory,
      connect: this.#deps.connect,
      owner,
      clear: () => killLeftovers(directory, marker, launched),
      fetch: async () => {},
      launch: async (workspaceDir) => {
        const processes = await launch({ directory, workspaceDir, marker });
        launched = processes.roots;
        return this.#toLaunched(processes, order);
      },
    });
  }

  async reattach(
    record: SandboxRecord,
    keys: SandboxKeys,
    policy?: NetworkPolicy,
  ): Promise<SandboxHandle | null> {
    const live = readLiveRecord(record);
    if (live === null) return null;
    const { id } = live;
    await this.#kind.ways?.reopen({ id, directory: this.#directory(id), authority: keys.authority, policy });
    return this.#handle(live, keys.toolHost);
  }

  async listOwned(): Promise<readonly string[]> {
    return listSandboxDirectories(this.#deps.sandboxesDir);
  }

  /** Processes first and the directory last: while anything is left, the directory shows it. */
  async remove(id: string): Promise<void> {
    await killLeftovers(this.#directory(id), this.#marker(id));
    await this.#kind.ways?.close(id);
    await this.#kind.clear?.(id);
    await removeSandboxDirectory(this.#directory(id));
  }

  #toLaunched(processes: LaunchedProcesses, { spec, keys }: StartOrder): Launched {
    const { roots, findMark, workspaceDir, stateDir } = processes;
    const directory = this.#directory(spec.id);
    return {
      findEnd: endOf(roots[0], directory),
      toHandle: async () => {
        const mark = findMark();
        await keepMark(directory, mark);
        const { name: backend } = this;
        return this.#handle(
          { backend, id: spec.id, bootId: systemTable.bootId(), roots, mark, workspaceDir, stateDir },
          keys.toolHost,
        );
      },
    };
  }

  #handle(record: LocalRecord, key: string): SandboxHandle {
    const directory = this.#directory(record.id);
    return new LocalSandbox({
      record,
      directory,
      key,
      connect: this.#deps.connect,
      connectPort: (port) => this.#kind.connectPort(directory, port),
    });
  }

  #directory(id: string): SandboxDirectory {
    return sandboxDirectory(this.#deps.sandboxesDir, id);
  }

  #marker(id: string): string {
    return `${this.#deps.installationId}.${id}`;
  }
}
