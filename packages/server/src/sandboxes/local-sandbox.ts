import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import type { RemoteToolHost } from "@convoke/tool-host";
import { describeError } from "../lib/describe-error.ts";
import { systemTable } from "@convoke/tool-host/system";
import { findFamily, findGuardianMark, findMarked } from "./find-processes.ts";
import { findSame, freezeProcesses, isStopped, killProcesses, thawProcesses } from "./process-group.ts";
import type { ProcessKey } from "./process-group.ts";
import { boundLog, readJsonIfThere, readTail, type SandboxDirectory } from "./sandbox-directory.ts";
import { SandboxError, type SandboxHandle, type SandboxHealth, type SandboxRecord } from "./sandbox.ts";
import { ToolHostLink, type ConnectToolHost } from "./tool-host-link.ts";

/** Where to find the processes of a sandbox on this machine, as its record keeps it. */
export type LocalRecord = SandboxRecord & {
  readonly id: string;
  readonly bootId: string;
  /** The first processes; everything else descends from them or carries `mark`. */
  readonly roots: readonly ProcessKey[];
  readonly mark: string | null;
  readonly workspaceDir: string;
  readonly stateDir: string;
};

export type LocalSandboxDeps = {
  readonly record: LocalRecord;
  readonly directory: SandboxDirectory;
  readonly key: string;
  readonly connect: ConnectToolHost;
  readonly connectPort: (port: number) => Promise<Duplex>;
};

/** A sandbox whose processes are in this machine's process table. */
export class LocalSandbox implements SandboxHandle {
  readonly record: LocalRecord;
  readonly #deps: LocalSandboxDeps;
  readonly #link: ToolHostLink;

  constructor(deps: LocalSandboxDeps) {
    this.#deps = deps;
    this.#link = new ToolHostLink(deps);
    this.record = deps.record;
  }

  get id(): string {
    return this.record.id;
  }

  get workspaceDir(): string {
    return this.record.workspaceDir;
  }

  get stateDir(): string {
    return this.record.stateDir;
  }

  get toolHostAddress(): string {
    return this.#link.address;
  }

  async connect(): Promise<RemoteToolHost> {
    const { state, detail } = this.#readHealth();
    if (state !== "running")
      throw new SandboxError(`The sandbox is ${state}: ${detail ?? "resume it first"}.`);
    return this.#link.connect();
  }

  async pause(): Promise<void> {
    if (this.#readHealth().state === "paused") return;
    this.#assertThere();
    const stoppedBefore = await freezeProcesses(this.#find);
    await writeFile(this.#frozenFile, JSON.stringify({ stoppedBefore }), { mode: 0o600 });
  }

  async resume(): Promise<void> {
    this.#assertThere();
    if (this.#readHealth().state === "paused") await this.#thaw();
    await this.#link.probe();
  }

  async #thaw(): Promise<void> {
    const frozen = await readJsonIfThere(this.#frozenFile);
    thawProcesses(this.#find, (frozen?.["stoppedBefore"] as ProcessKey[] | undefined) ?? []);
    await rm(this.#frozenFile, { force: true });
  }

  async stop(): Promise<void> {
    await killProcesses(this.#find);
    await rm(this.#frozenFile, { force: true });
  }

  async health(): Promise<SandboxHealth> {
    const seen = this.#readHealth();
    if (seen.state !== "running") return seen;
    try {
      await this.boundLog();
      await this.#link.probe();
      return seen;
    } catch (error) {
      // It may have ended while it was asked.
      const after = this.#readHealth();
      if (after.state !== "running") return after;
      return { state: "silent", detail: `the tool host does not answer (${describeError(error)})` };
    }
  }

  async boundLog(): Promise<void> {
    await boundLog(this.#deps.directory.logFile);
  }

  async logs(maxBytes: number): Promise<string> {
    return readTail(this.#deps.directory.logFile, maxBytes);
  }

  async connectPort(port: number): Promise<Duplex> {
    this.#assertThere();
    return this.#deps.connectPort(port);
  }

  get #frozenFile(): string {
    return join(this.#deps.directory.root, "frozen.json");
  }

  readonly #find = () => findFamily(this.record.roots, this.record.mark === null ? [] : [this.record.mark]);

  #readHealth(): SandboxHealth {
    const { roots } = this.record;
    if (!roots.every(findSame)) return { state: "stopped", detail: "the tool host has ended" };
    const isPaused = this.#find().every(isStopped);
    return { state: isPaused ? "paused" : "running", detail: null };
  }

  #assertThere(): void {
    const { state, detail } = this.#readHealth();
    if (state === "stopped") throw new SandboxError(`The sandbox has stopped: ${detail}. Start it again.`);
  }
}

/** The record of a sandbox that still has its first processes since the last boot; null for any other. */
export function readLiveRecord(record: SandboxRecord): LocalRecord | null {
  const local = record as LocalRecord;
  if (local.bootId !== systemTable.bootId() || !Array.isArray(local.roots)) return null;
  return local.roots.length > 0 && local.roots.every(findSame) ? local : null;
}

/** For {@link ToolHostLink.untilReady}: the end of the log once `leader` has ended. */
export function endOf(leader: ProcessKey, directory: SandboxDirectory): () => Promise<string | null> {
  return async () =>
    findSame(leader) === undefined ? (await readTail(directory.logFile, 2_000)).trim() : null;
}

/** Keeps the mark for {@link killLeftovers}: with tool host and guardian gone, nothing else leads to what left its parents. */
export async function keepMark(directory: SandboxDirectory, mark: string | null): Promise<void> {
  await writeFile(markFile(directory), JSON.stringify({ mark }), { mode: 0o600 });
}

/**
 * Kills whatever an earlier run left, found without its record, which may never have been written. `launched` are processes of this run:
 * while one of them becomes another program it has no environment, and so no marker, for a moment.
 */
export async function killLeftovers(
  directory: SandboxDirectory,
  marker: string,
  launched: readonly ProcessKey[] = [],
): Promise<void> {
  const roots = [...findMarked(marker), ...launched];
  const mark = (await readJsonIfThere(markFile(directory)))?.["mark"];
  const marks = new Set(roots.flatMap((root) => findGuardianMark(root) ?? []));
  if (typeof mark === "string") marks.add(mark);
  await killProcesses(() => findFamily([...roots, ...findMarked(marker)], [...marks]));
}

function markFile(directory: SandboxDirectory): string {
  return join(directory.root, "mark.json");
}
