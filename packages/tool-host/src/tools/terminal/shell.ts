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
} from "../../processes/process-table.ts";
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
  /** Tells the processes of this conversation's shells from all others; unique. */
  readonly marker: string;
  /** Private directory in which the shell's own files live; made and removed by the shell. */
  readonly directory: string;
  /** Aborting ends a shell that is not ready yet. */
  readonly signal: AbortSignal;
  /** Hears of all that programs print, exactly. */
  readonly onOutput: (text: string) => void;
};

/** What happens to the command that was started last. */
export type CommandListener = {
  /** The shell has taken the command. */
  readonly onBegin: () => void;
  readonly onText: (text: string) => void;
  readonly onEnd: (end: CommandEnd) => void;
  /** The shell itself ended; 128 + n when signal n did it. */
  readonly onDeath: (exitCode: number) => void;
};

const readyMs = 15_000;
const disposeGraceMs = 250;
const disposeKillMs = 1_500;

/** Name of the variable that marks every process of a conversation's shells. */
const shellVariable = "CONVOKE_SESSION";

/** One bash on a terminal of its own, which keeps its state from command to command. */
export class Shell implements AsyncDisposable {
  readonly #deps: ShellDeps;
  readonly #pty: IPty;
  readonly #messages: ShellMessages;
  readonly #startFile: string;
  readonly #readyNonce: string;
  #requests: Socket | undefined;
  #requestNumber = 0;
  #commandLine: string | undefined;
  /** Commands before the one that runs left a trap for SIGINT. */
  #isInterruptTrapped = false;
  /** A person works at its prompt. */
  #isLent = false;
  #exitCode: number | undefined;
  #listener: CommandListener | undefined;
  readonly #disposed = onceUnlessRejected(() => this.#dispose());

  /** Starts bash and waits until it takes commands. */
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
      // Without an encoding the terminal gives bytes, whatever its type says.
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
    // NUL ends a record, so it cannot be in one; bash could not hold it in a variable either.
    this.#requests?.write(records.map((record) => `${record.replaceAll("\0", "")}\0`).join(""));
    this.type(requestLine(this.#requestNumber));
  }

  /** Gives a person a prompt to work at, until {@link handBack}; `listener` hears of it as of a command. Only when none runs. */
  lend(listener: CommandListener): void {
    const nonce = newNonce();
    this.#listener = listener;
    this.#isLent = true;
    this.#messages.expect(nonce);
    this.type(lendLine(nonce));
  }

  /** Ends the time of a person if the shell is at its prompt; false where a program runs, and {@link revive} does it later. */
  handBack(): boolean {
    if (!this.isAlive || readShellState(this.#pty.pid, this.#commandLine) !== "waiting") return false;
    this.#messages.mute();
    this.type(handBackLine());
    return true;
  }

  resize({ columns, rows }: TerminalSize): void {
    if (this.isAlive) this.#pty.resize(columns, rows);
  }

  /** True from the moment the shell has taken the command until it reports its end. */
  get hasBegun(): boolean {
    return this.#messages.hasBegun;
  }

  /** Types bytes into the terminal. */
  type(bytes: string): void {
    if (this.isAlive) this.#pty.write(bytes);
  }

  /** Lets programs wait until {@link resume} when they print more. */
  pause(): void {
    this.#pty.pause();
  }

  resume(): void {
    this.#pty.resume();
  }

  /**
   * Brings back a shell that was stopped, was replaced by another bash or, where `mayNeedWaking`, came back to a prompt that
   * does not report. True when it was woken.
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
   * Takes the rest of the statement away from the shell, before what it waits for is ended: a shell goes on with the next
   * command when a program did not die of Ctrl-C. Where the shell itself may not follow an interrupt, it is ended.
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

  /** Live processes that the shells with this marker started, however they detached themselves, without this shell. */
  children(): ProcessEntry[] {
    return this.#childrenIn(new ProcessScan());
  }

  #childrenIn(scan: ProcessScan): ProcessEntry[] {
    const found = [...scan.ofSession(this.#pty.pid), ...scan.marked(shellVariable, this.#deps.marker)];
    const all = new Map(found.map((entry) => [entry.pid, entry]));
    all.delete(this.#pty.pid);
    // Parents come before what they started.
    return [...all.values()].sort((a, b) => a.startTicks - b.startTicks || a.pid - b.pid);
  }

  /** Ends the shell alone; its listener hears of the death. */
  kill(): void {
    if (this.isAlive) this.#pty.kill("SIGKILL");
  }

  /** Lets go of what a dead shell holds here; background programs go on. */
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
    // A paused terminal would never notice that the shell ended.
    this.resume();
    if (this.isAlive) this.#pty.kill("SIGHUP");
    await endProcesses((scan) => this.#everything(scan), { graceMs: disposeGraceMs, killMs: disposeKillMs });
    await this.release();
  }

  #everything(scan: ProcessScan): ProcessTarget {
    const shell = this.isAlive ? [this.#pty.pid] : [];
    // Without a process table only the shell and its group can be reached.
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
