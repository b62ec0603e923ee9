import { spawn, type ChildProcessByStdio } from "node:child_process";
import { randomUUID } from "node:crypto";
import { finished, type Readable, type Writable } from "node:stream";
import { onceUnlessRejected } from "@convoke/protocol/once-unless-rejected";
import { endProcesses, type ProcessTarget } from "./end-processes.ts";
import type { ProcessScan } from "./process-scan.ts";

/** A program that speaks over its standard input and output. */
export type ProcessSpec = {
  readonly command: string;
  readonly args: readonly string[];
  /** Added to the allow-listed environment of the host. */
  readonly environment: Readonly<Record<string, string>>;
  /** Absolute. */
  readonly workingDir: string;
};

/** How a process ended; `errorText` is the last part of what it wrote to standard error. */
export type ProcessEnd = {
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly errorText: string;
};

/** Ends with its host, its connection or its disposal, and with it everything it started, wrappers included. */
export interface PipedProcess extends AsyncDisposable {
  /** Writing to a process that is gone is dropped; `ended` tells. */
  readonly input: Writable;
  /** Standard output; ends when nobody can write to it any more. */
  readonly output: Readable;
  /** Resolves when the process itself has ended; rejects when it could not be started or its host is lost. */
  readonly ended: Promise<ProcessEnd>;
}

/** Name of the variable that marks a piped process and all its descendants. */
const markVariable = "CONVOKE_PIPED";
const errorTailChars = 4_000;
const disposeGraceMs = 500;
const disposeKillMs = 2_000;
const lastWordsMs = 250;

/** One that the host on this machine looks after. */
export interface HostedProcess extends PipedProcess {
  /** Ends what the process has left behind. What it has written can still be read, until it is disposed. */
  endRest(): Promise<void>;
}

/** Starts a program in a process group of its own on this machine; `environment` is the host's allow-listed one. */
export function startPipedProcess(
  spec: ProcessSpec,
  environment: Readonly<Record<string, string>>,
): HostedProcess {
  return new LocalProcess(spec, environment);
}

class LocalProcess implements HostedProcess {
  readonly input: Writable;
  readonly output: Readable;
  readonly ended: Promise<ProcessEnd>;
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #mark = randomUUID();
  #errorText = "";
  readonly #restEnded = onceUnlessRejected(() =>
    endProcesses((scan) => this.#tree(scan), { graceMs: disposeGraceMs, killMs: disposeKillMs }),
  );
  readonly #disposed = onceUnlessRejected(() => this.#dispose());

  constructor(spec: ProcessSpec, environment: Readonly<Record<string, string>>) {
    this.#child = spawn(spec.command, [...spec.args], {
      cwd: spec.workingDir,
      env: { ...environment, ...spec.environment, [markVariable]: this.#mark },
      stdio: ["pipe", "pipe", "pipe"],
      detached: true,
    });
    this.input = this.#child.stdin;
    this.output = this.#child.stdout;
    // A reader that went away must not end this process (EPIPE); `ended` tells whoever writes.
    this.input.on("error", () => {});
    this.output.on("error", () => {});
    this.#child.stderr.on("error", () => {});
    this.#child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#errorText = (this.#errorText + text).slice(-errorTailChars);
    });
    const end = Promise.withResolvers<ProcessEnd>();
    this.ended = end.promise;
    // Whoever waits for it sees the rejection; nobody has to.
    this.ended.catch(() => {});
    this.#child.once("error", (error) => end.reject(error));
    this.#child.once("exit", (exitCode, signal) => {
      const resolveEnd = (): void => end.resolve({ exitCode, signal, errorText: this.#errorText });
      // Its last words may still be on their way; a child that it left may hold the other end for ever.
      // What has arrived while this process was busy is read before the time counts.
      const latest = setTimeout(() => setImmediate(resolveEnd), lastWordsMs);
      finished(this.#child.stderr, () => {
        clearTimeout(latest);
        resolveEnd();
      });
    });
  }

  async endRest(): Promise<void> {
    await this.#restEnded();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#disposed();
  }

  async #dispose(): Promise<void> {
    this.input.destroy();
    await this.endRest();
    this.output.destroy();
    this.#child.stderr.destroy();
  }

  /** The group for systems without a process table, the marked ones because wrappers start groups of their own. */
  #tree(scan: ProcessScan): ProcessTarget {
    const marked = scan.marked(markVariable, this.#mark).map(({ pid }) => pid);
    const { pid, exitCode, signalCode } = this.#child;
    const isLeaderThere = pid !== undefined && exitCode === null && signalCode === null;
    return {
      pids: isLeaderThere ? [...new Set([pid, ...marked])] : marked,
      groupIds: isLeaderThere ? [pid] : [],
    };
  }
}
