import { chown, mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Duplex } from "node:stream";
import {
  connectToolHost,
  ToolHostRefusedError,
  ToolHostUnreachableError,
  type RemoteToolHost,
  type ToolHost,
} from "@convoke/tool-host";
import { Fault } from "../lib/fault.ts";
import type { BubblewrapOrder } from "../sandboxes/bubblewrap-command.ts";
import type { Bind } from "../sandboxes/bubblewrap-arguments.ts";
import { connectForwardedPort, forwarderBind } from "../sandboxes/port-forwarder-client.ts";
import {
  nodeArguments,
  orderedEnvironment,
  programBinds,
  serveArguments,
  systemPath,
} from "../sandboxes/tool-host-program.ts";
import type { BubblewrapWallsDeps } from "./walls-deps.ts";
import { CountedHost } from "./counted-host.ts";
import { deriveSettings } from "./derived-settings.ts";
import { adoptState } from "./earlier-state.ts";
import { findHiddenFiles } from "./hidden-files.ts";
import { findGuards } from "./find-guards.ts";
import type { GitPlaces } from "./git-places.ts";
import { findToolchains, toolchainVariables, visiblePath } from "./toolchains.ts";
import { chooseWallAccount, type WallAccount } from "./wall-account.ts";
import {
  accountFiles,
  insideWall,
  planMounts,
  wallArguments,
  wallEnvironment,
  type Mount,
} from "./wall-mounts.ts";
import { createWallKey, WallProcess } from "./wall-process.ts";
import type { WalledHost, WallOrder } from "./wall.ts";

export type BubblewrapWallDeps = BubblewrapWallsDeps & {
  readonly order: WallOrder;
  /** The working folder without links. */
  readonly folder: string;
  /** Folder of this wall for its sockets and its log. */
  readonly root: string;
  /** The private home, kept for the owner and the folder. */
  readonly home: string;
  /** For the state of sessions. */
  readonly state: string;
  readonly gitPlaces: GitPlaces;
};

const defaultIdleMs = 10 * 60_000;
/** Processes and threads of a wall, and megabytes of memory of one process. People's builds need more than sandboxes of strangers. */
const limits = { pids: 8_192, memoryMb: 64 * 1_024 };

/** The wall of one conversation. */
export class BubblewrapWall implements WalledHost, AsyncDisposable {
  readonly catalogue: readonly string[];
  readonly stateDir: string;
  readonly #deps: BubblewrapWallDeps;
  readonly #process: WallProcess;
  readonly #key = createWallKey();
  #connected: Promise<{ readonly remote: RemoteToolHost; readonly host: ToolHost }> | null = null;
  #gitDirs: readonly string[] = [];
  #idle: NodeJS.Timeout | undefined;

  constructor(deps: BubblewrapWallDeps) {
    this.#deps = deps;
    this.catalogue = deps.catalogue;
    this.stateDir = deps.state;
    this.#process = new WallProcess({
      files: { root: deps.root, run: this.#run },
      path: deps.environment["PATH"] ?? systemPath,
      prepare: () => this.#prepare(),
      onEnd: () => this.#release(),
    });
  }

  /** False for an order that needs another wall. */
  isFor(order: WallOrder, folder: string): boolean {
    const known = this.#deps.order;
    return (
      this.#deps.folder === folder &&
      known.ownerId === order.ownerId &&
      known.network === order.network &&
      known.hide.join("\0") === order.hide.join("\0")
    );
  }

  get isRunning(): boolean {
    return this.#process.isRunning;
  }

  async openHost(): Promise<ToolHost> {
    clearTimeout(this.#idle);
    this.#connected ??= this.#connect();
    const connecting = this.#connected;
    try {
      return (await connecting).host;
    } catch (error) {
      if (this.#connected === connecting) this.#connected = null;
      const isReason = error instanceof ToolHostRefusedError || error instanceof ToolHostUnreachableError;
      throw isReason ? new Fault("not-now", "wall_failed", error.message, [], { cause: error }) : error;
    }
  }

  async adoptState(sessionId: string, from: string): Promise<void> {
    await adoptState(from, join(this.stateDir, sessionId), await this.#account());
  }

  async connectPort(port: number): Promise<Duplex> {
    return await connectForwardedPort(join(this.#run, "ports.sock"), port);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#idle);
    await this.#disconnect();
    await this.#process[Symbol.asyncDispose]();
  }

  get #run(): string {
    return join(this.#deps.root, "run");
  }

  async #account(): Promise<WallAccount> {
    const { folder, self, environment } = this.#deps;
    return await chooseWallAccount(folder, { self, home: environment["HOME"] ?? null });
  }

  async #connect() {
    const remote = await connectToolHost({
      address: `unix:${join(this.#run, "host.sock")}`,
      key: this.#key,
      open: () => this.#process.connect(),
    });
    return { remote, host: new CountedHost(remote, (open) => this.#onChange(open)) };
  }

  async #disconnect(): Promise<void> {
    const connected = await this.#connected?.catch(() => null);
    this.#connected = null;
    connected?.remote.detach();
  }

  #onChange(open: number): void {
    clearTimeout(this.#idle);
    if (open > 0) return;
    this.#idle = setTimeout(() => void this.#rest(), this.#deps.idleMs ?? defaultIdleMs).unref();
  }

  /** Ends the process until the next use. */
  async #rest(): Promise<void> {
    await this.#disconnect();
    await this.#process.stop();
  }

  async #release(): Promise<void> {
    const gitDirs = this.#gitDirs;
    this.#gitDirs = [];
    for (const gitDir of gitDirs) await this.#deps.gitPlaces.release(gitDir);
  }

  async #prepare(): Promise<BubblewrapOrder> {
    const { folder, order, dataDir, environment, program, root, home, state, gitPlaces } = this.#deps;
    const serverHome = environment["HOME"] ?? null;
    const account = await this.#account();
    await this.#makeFolders(account, [root, this.#run, home, state]);
    const key = join(this.#run, "key");
    await writeFile(key, `${this.#key}\n`, { mode: 0o600 });
    await giveTo(key, account);
    const found = await findGuards(folder);
    for (const gitDir of found.gitDirs) await gitPlaces.hold(gitDir);
    this.#gitDirs = found.gitDirs;
    const { binds: guards } = await findGuards(folder);
    const toolchains = await findToolchains({ home: serverHome ?? account.home, dataDir, environment });
    const settings = await deriveSettings(serverHome ?? account.home, folder, environment);
    const forwarder = forwarderBind(undefined, "/run/convoke-program");
    const mounts = planMounts({
      folder,
      namedFolder: order.folder,
      home: account.home,
      dataDir,
      dirs: { run: this.#run, state, home },
      program: [
        forwarder,
        ...programBinds(program, insideWall.program).map((bind) => ({ ...bind, isWritable: false })),
      ],
      toolchains,
      guards,
    });
    const name = "convoke-wall";
    const path = visiblePath(environment["PATH"] ?? systemPath, toolchains, dirname(insideWall.program.node));
    const variables = orderedEnvironment({
      ...toolchainVariables(environment, toolchains),
      ...settings.variables,
    });
    return {
      account: account.become,
      binds: mounts.filter((mount) => mount.kind === "bind"),
      toArguments: (binds: readonly Bind[]) =>
        wallArguments(
          {
            account,
            network: order.network,
            name,
            folder,
            environment: { ...variables, ...wallEnvironment(account, path, environment) },
          },
          mounts satisfies readonly Mount[],
          binds,
        ),
      files: {
        ...accountFiles(account, name),
        ...settings.files,
        ...(await findHiddenFiles(folder, order.hide)),
      },
      visible: [],
      limits,
      command: [
        insideWall.program.node,
        ...nodeArguments,
        "--import",
        `file://${forwarder.target}`,
        join(insideWall.program.root, program.entry),
        ...serveArguments({
          socket: `${insideWall.run}/host.sock`,
          keyFile: `${insideWall.run}/key`,
          stateDir: state,
        }),
      ],
    };
  }

  async #makeFolders(account: WallAccount, folders: readonly string[]): Promise<void> {
    await rm(this.#run, { recursive: true, force: true });
    for (const folder of folders) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      if (folder !== this.#deps.root) await giveTo(folder, account);
    }
  }
}

async function giveTo(path: string, { become }: WallAccount): Promise<void> {
  if (become !== null) await chown(path, become.uid, become.gid);
}
