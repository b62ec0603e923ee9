import { randomUUID } from "node:crypto";
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { onceUnlessRejected } from "@convoke/protocol/once-unless-rejected";
import type { BashCommand, BashOutput } from "@convoke/protocol";
import { endProcesses } from "../processes/end-processes.ts";
import { maskText } from "../processes/mask.ts";
import { readProcess } from "../system/process-table.ts";
import { isStorageFailure } from "../private-sqlite.ts";
import { clipText } from "../text/truncate.ts";
import { WorkspaceError } from "../workspace/workspace.ts";
import type { Bash, BashEntry, BashPage, BashQuery, BashRequest } from "./bash.ts";
import { BashLog, createBashId } from "./bash-log.ts";
import type { BashDraft, BashChunk } from "./bash-log.ts";
import { runBash } from "./bash-run.ts";
import type { OutputLimits, OutputChunk } from "./output-chunks.ts";

export type LocalBashDeps = {
  /** SQLite file of the record, created with its directory when missing; `:memory:` stores nothing. */
  readonly path: string;
  /** The allow-listed environment that commands start with. */
  readonly environment: Readonly<Record<string, string>>;
  /** Events of ended commands are deleted after this many milliseconds; null keeps them. */
  readonly ttlMs?: number | null;
  /** Maximum size of the record; 256 MiB unless given. */
  readonly maxBytes?: number;
  /** Maximum number of commands that run at the same time; 64 unless given. */
  readonly maxRunning?: number;
  readonly limits?: Partial<OutputLimits>;
};

type Running = {
  readonly owner: string;
  readonly stopping: AbortController;
  /** Resolves when the end is recorded. */
  readonly ended: Promise<void>;
};

/** Environment variable of everything that the commands of one process start. */
const runnerVariable = "CONVOKE_BASH";
const endOptions = { graceMs: 1_000, killMs: 1_000 };
const pollMs = 1_000;
/** Maximum length of each stream in `result`. */
const longestResult = 1024 * 1024;
const batch = { limit: 100, maxBytes: 1024 * 1024 };

/** Runs commands on this machine. Commands that an earlier process did not end are recorded as ended with -1. */
export function openLocalBash(deps: LocalBashDeps): Bash {
  return new LocalBash(deps);
}

class LocalBash implements Bash {
  readonly #deps: LocalBashDeps;
  readonly #log: BashLog;
  readonly #running = new Map<string, Running>();
  readonly #waiting = new Set<() => void>();
  readonly #stopping = new AbortController();
  readonly #marker = randomUUID();
  /** Ended commands whose end could not be written because the disk was full; retried later. */
  readonly #unrecorded = new Map<string, UnrecordedEnd>();
  #retrying: NodeJS.Timeout | undefined;
  readonly #sweeping: NodeJS.Timeout | undefined;
  #isClosed = false;
  readonly #disposed = onceUnlessRejected(() => this.#dispose());

  constructor(deps: LocalBashDeps) {
    this.#deps = deps;
    if (deps.path !== ":memory:") mkdirSync(dirname(deps.path), { recursive: true, mode: 0o700 });
    const { ttlMs = null, maxBytes = 256 * 1024 * 1024 } = deps;
    this.#log = new BashLog({ path: deps.path, capacityBytes: maxBytes, ttlMs, nowMs: Date.now });
    this.#closeLost();
    this.#tidy();
    if (ttlMs !== null) {
      this.#sweeping = setInterval(() => this.#tidy(), Math.max(60_000, ttlMs / 2)).unref();
    }
  }

  async start(request: BashRequest): Promise<string> {
    const known = this.#log.findCommand(request.owner, request.id);
    if (known !== undefined) return known;
    if (this.#stopping.signal.aborted) throw new Error(closedText);
    const { maxRunning = 64 } = this.#deps;
    if (this.#running.size >= maxRunning) {
      throw new WorkspaceError(
        "too-many-commands",
        `${maxRunning} commands run already. Wait for one to end.`,
      );
    }
    const { id, owner, secrets, cwd, timeoutSeconds: timeout } = request;
    const command = maskText(request.command, secrets);
    const fields = { command, cwd, timeout } satisfies Partial<BashCommand>;
    // The command is recorded before it starts, so no unknown command ever runs.
    const recorded = this.#recordStart({ id, owner, commandId: id, kind: "BashCommand", fields });
    this.#ring();
    const stopping = new AbortController();
    const signal = AbortSignal.any([stopping.signal, this.#stopping.signal]);
    const ended = this.#run(request, signal).finally(() => this.#running.delete(id));
    this.#running.set(id, { owner, stopping, ended });
    return recorded;
  }

  async result(owner: string, commandId: string, signal?: AbortSignal): Promise<string | null> {
    for (;;) {
      signal?.throwIfAborted();
      if (this.#isClosed) throw new Error(closedText);
      if (this.#unrecorded.get(commandId)?.owner === owner) this.#recordEnds();
      if (this.#unrecorded.get(commandId)?.owner === owner) throw this.#unwritable();
      const outputs = this.#log.outputsOfEnded(owner, commandId);
      if (outputs !== undefined) return joinOutputs(outputs);
      if (this.#log.findCommand(owner, commandId) === undefined) return null;
      await this.#untilRing(signal);
    }
  }

  async stop(owner: string, commandId: string): Promise<boolean> {
    const running = this.#running.get(commandId);
    if (running?.owner !== owner) return this.#log.findCommand(owner, commandId) !== undefined;
    running.stopping.abort("somebody stopped it");
    await running.ended;
    return true;
  }

  async search(query: BashQuery): Promise<BashPage> {
    return this.#log.search(query);
  }

  async get(owner: string, ids: readonly string[]): Promise<readonly (string | null)[]> {
    return this.#log.get(owner, ids);
  }

  async clear(owner: string): Promise<number> {
    return this.#log.clear(owner);
  }

  async lastSeq(): Promise<number> {
    return this.#log.lastSeq();
  }

  async *follow(
    owner: string,
    afterSeq: number,
    signal: AbortSignal,
  ): AsyncGenerator<readonly BashEntry[], void, undefined> {
    let cursor = afterSeq;
    while (!signal.aborted && !this.#isClosed) {
      const entries = this.#log.readAfter(owner, cursor, batch.limit, batch.maxBytes);
      const last = entries.at(-1);
      if (last === undefined) await this.#untilRing(signal);
      else {
        cursor = last.seq;
        yield entries;
      }
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#disposed();
  }

  async #dispose(): Promise<void> {
    clearInterval(this.#sweeping);
    clearInterval(this.#retrying);
    this.#stopping.abort("its host stops");
    await Promise.all([...this.#running.values()].map(({ ended }) => ended));
    // Background processes of ended commands.
    await endProcesses(
      (scan) => ({ pids: scan.marked(runnerVariable, this.#marker).map(({ pid }) => pid), groupIds: [] }),
      endOptions,
    );
    this.#recordEnds();
    this.#isClosed = true;
    this.#log[Symbol.dispose]();
    this.#ring();
  }

  async #run(request: BashRequest, signal: AbortSignal): Promise<void> {
    const { id, owner, command, cwd, secrets, timeoutSeconds } = request;
    let order = 0;
    let isCut = false;
    const toFields = (chunk: OutputChunk, exitCode: number | null): BashChunk => ({
      order: order++,
      exit_code: exitCode,
      stdout: chunk.stdout === "" ? null : chunk.stdout,
      stderr: chunk.stderr === "" ? null : chunk.stderr,
    });
    const record = (chunk: OutputChunk): void => {
      // The command continues: a full disk must end neither it nor this process (F3).
      if (!this.#output(id, owner, toFields(chunk, null))) isCut = true;
    };
    const end = await runBash({
      id,
      command,
      cwd,
      environment: { ...this.#deps.environment, [runnerVariable]: this.#marker },
      timeoutMs: timeoutSeconds * 1_000,
      secrets,
      onChunk: record,
      signal,
      ...(this.#deps.limits === undefined ? {} : { limits: this.#deps.limits }),
    });
    this.#unrecorded.set(id, { owner, fields: toFields(end, end.exitCode), isCut });
    this.#recordEnds();
    this.#tidy();
  }

  /** Records the ends of commands; those that fail are retried every second. */
  #recordEnds(): void {
    for (const [id, { owner, fields, isCut }] of this.#unrecorded) {
      const stderr = isCut ? `${fields.stderr ?? ""}${cutText}` : fields.stderr;
      if (this.#output(id, owner, { ...fields, stderr })) this.#unrecorded.delete(id);
      // There is no room for more and the output is incomplete already: only the end itself is recorded.
      else
        this.#unrecorded.set(id, { owner, fields: { ...fields, stdout: null, stderr: null }, isCut: true });
    }
    clearInterval(this.#retrying);
    if (this.#unrecorded.size > 0) this.#retrying = setInterval(() => this.#recordEnds(), pollMs).unref();
  }

  #recordStart(draft: BashDraft): string {
    try {
      return this.#log.append(draft, thisRunner());
    } catch (error) {
      throw isStorageFailure(error) ? this.#unwritable(error) : error;
    }
  }

  #unwritable(cause?: unknown): WorkspaceError {
    return new WorkspaceError(
      "no-space",
      "The record of commands cannot be written: its disk is full, gone or reads only. Make room, then send it again.",
      { cause },
    );
  }

  #tidy(): void {
    try {
      this.#log.forget();
    } catch (error) {
      // Old events stay longer: the next end of a command tries again.
      if (!isStorageFailure(error)) throw error;
    }
  }

  /** The guardian ends the processes of a killed server; here only their end is recorded. */
  #closeLost(): void {
    for (const { id, owner, runner } of this.#log.findOpen()) {
      if (isRunnerAlive(runner)) continue;
      const fields = { order: lostOrder, exit_code: -1, stdout: null, stderr: lostText };
      this.#unrecorded.set(id, { owner, fields, isCut: false });
    }
    this.#recordEnds();
  }

  /** False when the disk refused the event. */
  #output(commandId: string, owner: string, fields: BashChunk): boolean {
    try {
      this.#log.append({ id: createBashId(), owner, commandId, kind: "BashOutput", fields });
    } catch (error) {
      if (!isStorageFailure(error)) throw error;
      return false;
    } finally {
      this.#ring();
    }
    return true;
  }

  #ring(): void {
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }

  /** Resolves at the next event of this process, and after a second, because another process may have written one. */
  async #untilRing(signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = (): void => resolve();
    this.#waiting.add(wake);
    signal?.addEventListener("abort", wake);
    if (signal?.aborted === true) wake();
    const timer = setTimeout(wake, pollMs).unref();
    await promise;
    clearTimeout(timer);
    signal?.removeEventListener("abort", wake);
    this.#waiting.delete(wake);
  }
}

type UnrecordedEnd = { readonly owner: string; readonly fields: BashChunk; readonly isCut: boolean };

const cutText = "\n[output is missing here: the disk of the record was full]\n";

const closedText = "The host of this command stops.";

/** Higher than any order that the lost command can have used. */
const lostOrder = 2 ** 31 - 1;
const lostText = "The server ended while this command ran; whatever it was doing was ended too.\n";

/** Identifies a process by more than its id, because ids are reused. */
function thisRunner(): string {
  return `${process.pid}:${readProcess(process.pid)?.startTicks ?? 0}`;
}

function isRunnerAlive(runner: string): boolean {
  const [pid = 0, startTicks = 0] = runner.split(":").map(Number);
  const entry = readProcess(pid);
  return entry !== undefined && entry.startTicks === startTicks && pid !== process.pid;
}

function joinOutputs(outputs: readonly BashOutput[]): string {
  const last = outputs.at(-1);
  const join = (name: "stdout" | "stderr"): string | null => {
    const text = outputs.map((output) => output[name] ?? "").join("");
    return text === "" ? null : clipText(text, longestResult, "\n[the middle was left out here]\n");
  };
  return JSON.stringify({ ...last, stdout: join("stdout"), stderr: join("stderr") });
}
