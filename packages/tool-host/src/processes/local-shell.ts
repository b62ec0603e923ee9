import { onceUnlessRejected } from "@convoke/protocol/once-unless-rejected";
import { spawn, type IPty } from "@lydell/node-pty";
import { randomUUID } from "node:crypto";
import { stat } from "node:fs/promises";
import { Readable } from "node:stream";
import { parseTerminalParams } from "../tools/terminal/terminal-params.ts";
import { endProcesses, type ProcessTarget } from "./end-processes.ts";
import { withinSize, type PersonShell, type ShellInput, type ShellSpec } from "./person-shell.ts";
import type { ProcessScan } from "./process-scan.ts";
import { hasProcessTable } from "../system/process-table.ts";

/** Environment variable that marks a person's shell and all its descendants. */
const markVariable = "CONVOKE_SHELL";
const disposeGraceMs = 250;
const disposeKillMs = 1_500;

/** Starts a bash on this machine; `environment` is the host's allow-listed one. */
export async function openLocalShell(
  spec: ShellSpec,
  environment: Readonly<Record<string, string>>,
): Promise<PersonShell> {
  const folder = await stat(spec.workingDir).catch(() => null);
  if (folder?.isDirectory() !== true) throw new Error(`The directory ${spec.workingDir} does not exist.`);
  return new LocalShell(spec, environment);
}

class LocalShell implements PersonShell {
  readonly output: Readable;
  readonly ended: Promise<number>;
  readonly #pty: IPty;
  readonly #mark = randomUUID();
  #isAlive = true;
  readonly #disposed = onceUnlessRejected(() => this.#dispose());

  constructor(spec: ShellSpec, environment: Readonly<Record<string, string>>) {
    const { columns, rows } = withinSize(spec);
    this.#pty = spawn(parseTerminalParams({}, environment).program, [], {
      name: "xterm-256color",
      cols: columns,
      rows,
      cwd: spec.workingDir,
      env: { ...environment, TERM: "xterm-256color", [markVariable]: this.#mark },
      encoding: null,
    });
    this.output = new Readable({
      read: () => {
        if (this.#isAlive) this.#pty.resume();
      },
    });
    // A reader that is gone has let go of the shell.
    this.output.on("error", () => {});
    this.#pty.onData((bytes) => {
      if (!this.output.destroyed && !this.output.push(bytes)) this.#pty.pause();
    });
    const end = Promise.withResolvers<number>();
    this.ended = end.promise;
    this.#pty.onExit(({ exitCode, signal = 0 }) => {
      this.#isAlive = false;
      if (!this.output.destroyed) this.output.push(null);
      end.resolve(signal > 0 ? 128 + signal : exitCode);
    });
  }

  act(input: ShellInput): void {
    if (!this.#isAlive) return;
    if (input.type === "type") return this.#pty.write(input.text);
    const { columns, rows } = withinSize(input);
    this.#pty.resize(columns, rows);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#disposed();
  }

  async #dispose(): Promise<void> {
    // A paused terminal would not report that the shell ended.
    if (this.#isAlive) {
      this.#pty.resume();
      this.#pty.kill("SIGHUP");
    }
    await endProcesses((scan) => this.#everything(scan), { graceMs: disposeGraceMs, killMs: disposeKillMs });
  }

  #everything(scan: ProcessScan): ProcessTarget {
    const { pid } = this.#pty;
    const shell = this.#isAlive ? [pid] : [];
    // Without a process table only the shell and its process group can be signalled.
    if (!hasProcessTable()) return { pids: shell, groupIds: shell };
    const all = [...scan.ofSession(pid), ...scan.marked(markVariable, this.#mark)];
    return { pids: [...new Set([...shell, ...all.map((entry) => entry.pid)])], groupIds: [] };
  }
}
