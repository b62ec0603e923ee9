import { onceUnlessRejected } from "@convoke/protocol/once-unless-rejected";
import { spawn, type IPty } from "@lydell/node-pty";
import { randomBytes } from "node:crypto";
import { constants, openSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { Socket } from "node:net";
import { join } from "node:path";
import { endProcesses, signalProcesses, type ProcessTarget } from "../../processes/end-processes.ts";
import {
  hasProcessTable,
  ignoresSignal,
  readCommandLine,
  type ProcessEntry,
  systemTable,
} from "../../system/process-table.ts";
import { ProcessScan } from "../../processes/process-scan.ts";
import type { TerminalSize } from "../../terminal-attachment.ts";
import type { ToolSecret } from "../../tool.ts";
import { terminalSize } from "./terminal-size.ts";
import { ShellMessages, type CommandEnd } from "./shell-messages.ts";
import { adoptLine, handBackLine, lendLine, requestLine, shellStartFile, wakeLine } from "./shell-script.ts";
import { readShellState } from "./shell-state.ts";

export type ShellDeps = {
  /** Absolute path of bash. */
  readonly program: string;
  readonly workingDir: string;
  readonly environment: Readonly<Record<string, string>>;
  /** A unique marker for the processes of this conversation's shells. */
  readonly marker: string;
  /** Private directory for the shell's own files; created and removed by the shell. */
  readonly directory: string;
  /** Aborting ends a shell that is not ready yet. */
  readonly signal: AbortSignal;
  /** Receives the exact output of all programs. */
  readonly onOutput: (text: string) => void;
};

/** Events of the last started command. */
export type CommandListener = {
  /** The shell has accepted the command. */
  readonly onBegin: () => void;
  readonly onText: (text: string) => void;
  readonly onEnd: (end: CommandEnd) => void;
  /** The shell itself ended; 128 + n after signal n. */
  readonly onDeath: (exitCode: number) => void;
};

const readyMs = 15_000;
const disposeGraceMs = 250;
const disposeKillMs = 1_500;

/** Environment variable that marks every process of a conversation's shells. */
const shellVariable = "CONVOKE_SESSION";

/** One bash in its own terminal, with state that persists from command to command. */
export class Shell implements AsyncDisposable {
  readonly #deps: ShellDeps;
  readonly #pty: IPty;
  readonly #messages: ShellMessages;
  readonly #startFile: string;
  readonly #readyNonce: string;
  #requests: Socket | undefined;
  #requestNumber = 0;
  #commandLine: string | undefined;
  /** An earlier command left a trap for SIGINT. */
  #isInterruptTrapped = false;
  /** A person uses its prompt. */
  #isLent = false;
  #exitCode: number | undefined;
  #listener: CommandListener | undefined;
  readonly #disposed = onceUnlessRejected(() => this.#dispose());

  /** Starts bash and waits until it accepts commands. */
  static async open(deps: ShellDeps): Promise<Shell> {
    await mkdir(deps.directory, { recursive: true, mode: 0o700 });
    const nonce = newNonce();
    const startFile = join(deps.directory, "start");
    try {
      await writeFile(startFile, shellStartFile(deps.directory, nonce), { mode: 0o600 });
      deps.signal.throwIfAborted();
    } catch (error) {
      await rm(deps.directory, { recursive: true, force: true });
      throw error;
    }
    const shell = new Shell(deps, startFile, nonce);
    try {
      await shell.#becomeReady();
    } catch (error) {
      await shell[Symbol.asyncDispose]();
      throw error;
    }
    return shell;
  }

  private constructor(deps: ShellDeps, startFile: string, nonce: string) {
    this.#deps = deps;
    this.#startFile = startFile;
    this.#readyNonce = nonce;
    this.#pty = spawn(deps.program, ["--noprofile", "--rcfile", startFile, "--noediting", "-i"], {
      name: "xterm-256color",
      cols: terminalSize.columns,
      rows: terminalSize.rows,
      cwd: deps.workingDir,
      env: { ...deps.environment, [shellVariable]: deps.marker },
      encoding: null,
    });
    systemTable.makeExpendable(this.#pty.pid);
    this.#messages = new ShellMessages({
      onBegin: () => this.#listener?.onBegin(),
      onText: (text) => {
        this.#deps.onOutput(text);
        this.#listener?.onText(text);
      },
      onEnd: (end) => {
        this.#isLent = false;
        this.#isInterruptTrapped = end.isInterruptTrapped;
        this.#listener?.onEnd(end);
      },
    });
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    this.#pty.onData((data: string | Buffer) => {
      // Without an encoding the terminal returns bytes, whatever its type says.
      this.#messages.push(typeof data === "string" ? data : decoder.decode(data, { stream: true }));
    });
    this.#pty.onExit(({ exitCode, signal }) => {
      this.#exitCode = signal === undefined || signal === 0 ? exitCode : 128 + signal;
      this.#messages.drain();
      this.#listener?.onDeath(this.#exitCode);
    });
  }

  get isAlive(): boolean {
    return this.#exitCode === undefined;
  }

  /** Starts a command with these secrets exported; its output and its end go to `listener`. Only when none runs. */
  start(command: string, secrets: readonly ToolSecret[], listener: CommandListener): void {
    this.#requestNumber += 1;
    const nonce = newNonce();
    this.#listener = listener;
    this.#messages.expect(nonce);
    const exported = secrets.flatMap(({ name, value }) => [name, value]);
    const records = [`request ${this.#requestNumber} ${nonce}`, String(secrets.length), ...exported, command];
    // NUL ends a record, so a value cannot contain it; neither can a bash variable.
    this.#requests?.write(records.map((record) => `${record.replaceAll("\0", "")}\0`).join(""));
    this.type(requestLine(this.#requestNumber));
  }

  /** Gives a person the prompt until {@link handBack}; `listener` is called as for a command. Only when none runs. */
  lend(listener: CommandListener): void {
    const nonce = newNonce();
    this.#listener = listener;
    this.#isLent = true;
    this.#messages.expect(nonce);
    this.type(lendLine(nonce));
  }

  /** Ends a person's session if the shell is at its prompt; false while a program runs, then {@link revive} does it later. */
  handBack(): boolean {
    if (!this.isAlive || readShellState(this.#pty.pid, this.#commandLine) !== "waiting") return false;
    this.#messages.mute();
    this.type(handBackLine());
    return true;
  }

  resize({ columns, rows }: TerminalSize): void {
    if (this.isAlive) this.#pty.resize(columns, rows);
  }

  /** True from the moment the shell has accepted the command until it reports its end. */
  get hasBegun(): boolean {
    return this.#messages.hasBegun;
  }

  /** Types bytes into the terminal. */
  type(bytes: string): void {
    if (this.isAlive) this.#pty.write(bytes);
  }

  /** Pauses the programs' output until {@link resume}. */
  pause(): void {
    this.#pty.pause();
  }

  resume(): void {
    this.#pty.resume();
  }

  /**
   * Revives a shell that was stopped, was replaced by another bash or, with `mayNeedWaking`, returned to a prompt that does not report.
   * True when it was woken.
   */
  revive(mayNeedWaking: boolean): boolean {
    if (!this.isAlive || !this.#messages.hasBegun) return false;
    const state = readShellState(this.#pty.pid, this.#commandLine);
    if (state === "stopped") {
      signalProcesses({ pids: [this.#pty.pid], groupIds: [] }, "SIGCONT");
    } else if (state === "replaced" && this.#messages.nonce !== undefined) {
      this.#messages.mute();
      this.type(adoptLine(this.#startFile, this.#messages.nonce));
      this.#commandLine = readCommandLine(this.#pty.pid);
    } else if (state === "waiting" && mayNeedWaking) {
      if (this.#isLent) this.handBack();
      else this.type(wakeLine());
      return true;
    }
    return false;
  }

  /**
   * Discards the rest of the statement before the processes that it waits for are ended, because a shell continues with the next
   * command when a program did not die of Ctrl-C. If the shell itself may ignore an interrupt, it is ended.
   */
  abandonStatement(command: string): void {
    if (!this.isAlive) return;
    const { pid } = this.#pty;
    const mayGoOn =
      !this.#messages.hasBegun ||
      this.#isInterruptTrapped ||
      /\btrap\b/.test(command) ||
      ignoresSignal(pid, "SIGINT");
    if (mayGoOn) this.kill();
    else signalProcesses({ pids: [pid], groupIds: [] }, "SIGINT");
  }

  /** Live processes that shells with this marker started, even if detached, without this shell. */
  children(): ProcessEntry[] {
    return this.#childrenIn(new ProcessScan());
  }

  #childrenIn(scan: ProcessScan): ProcessEntry[] {
    const found = [...scan.ofSession(this.#pty.pid), ...scan.marked(shellVariable, this.#deps.marker)];
    const all = new Map(found.map((entry) => [entry.pid, entry]));
    all.delete(this.#pty.pid);
    // Parents before their children.
    return [...all.values()].sort((a, b) => a.startTicks - b.startTicks || a.pid - b.pid);
  }

  /** Ends only the shell; its listener gets the exit. */
  kill(): void {
    if (this.isAlive) this.#pty.kill("SIGKILL");
  }

  /** Releases the resources of a dead shell; background programs continue. */
  async release(): Promise<void> {
    this.#listener = undefined;
    this.#requests?.destroy();
    await rm(this.#deps.directory, { recursive: true, force: true });
  }

  /** Ends the shell and everything started by shells with its marker, within two seconds. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#disposed();
  }

  async #dispose(): Promise<void> {
    this.#listener = undefined;
    // A paused terminal would not report that the shell ended.
    this.resume();
    if (this.isAlive) this.#pty.kill("SIGHUP");
    await endProcesses((scan) => this.#everything(scan), { graceMs: disposeGraceMs, killMs: disposeKillMs });
    await this.release();
  }

  #everything(scan: ProcessScan): ProcessTarget {
    const shell = this.isAlive ? [this.#pty.pid] : [];
    // Without a process table only the shell and its process group can be signalled.
    if (!hasProcessTable()) return { pids: shell, groupIds: shell };
    return { pids: [...shell, ...this.#childrenIn(scan).map((entry) => entry.pid)], groupIds: [] };
  }

  async #becomeReady(): Promise<void> {
    const ready = Promise.withResolvers<void>();
    this.#listener = {
      onBegin: () => {},
      onText: () => {},
      onEnd: () => ready.resolve(),
      onDeath: (exitCode) =>
        ready.reject(new Error(`The shell ended while it started (exit code ${exitCode}).`)),
    };
    this.#messages.expect(this.#readyNonce, true);
    const timer = setTimeout(() => ready.reject(new Error("The shell did not become ready.")), readyMs);
    const { signal } = this.#deps;
    const onAbort = (): void => ready.reject(signal.reason as Error);
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    try {
      await ready.promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      this.#listener = undefined;
    }
    this.#commandLine = readCommandLine(this.#pty.pid);
    // Opened for both directions, the pipe neither blocks us nor ends when no shell reads it.
    const pipe = openSync(join(this.#deps.directory, "in"), constants.O_RDWR | constants.O_NONBLOCK);
    this.#requests = new Socket({ fd: pipe, readable: false, writable: true });
  }
}

function newNonce(): string {
  return randomBytes(16).toString("hex");
}
