import { spawn, type ChildProcessByStdio } from "node:child_process";
import { randomUUID } from "node:crypto";
import { finished, type Readable, type Writable } from "node:stream";
import { onceUnlessRejected } from "@convoke/protocol/once-unless-rejected";
import { holdOutput } from "./hold-output.ts";
import { endProcesses, type ProcessTarget } from "./end-processes.ts";
import type { ProcessScan } from "./process-scan.ts";

/** A program that communicates over standard input and output. */
export type ProcessSpec = {
  readonly command: string;
  readonly args: readonly string[];
  /** Added to the host's allow-listed environment. */
  readonly environment: Readonly<Record<string, string>>;
  /** Absolute path. */
  readonly workingDir: string;
};

/** How a process ended; `errorText` is the end of its standard error. */
export type ProcessEnd = {
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly errorText: string;
};

/** Ends with its host, its connection or its disposal, with everything it started, wrappers included. */
export interface PipedProcess extends AsyncDisposable {
  /** Input for a process that has ended is dropped; see `ended`. */
  readonly input: Writable;
  /** Standard output; ends when no process can write to it any more. */
  readonly output: Readable;
  /** Resolves when the process itself has ended; rejects when it could not be started or its host is lost. */
  readonly ended: Promise<ProcessEnd>;
}

/** Environment variable that marks a piped process and all its descendants. */
const markVariable = "CONVOKE_PIPED";
const errorTailChars = 4_000;
const disposeGraceMs = 500;
const disposeKillMs = 2_000;
const lastWordsMs = 250;

/** A process that the host on this machine manages. */
export interface HostedProcess extends PipedProcess {
  /** Ends the descendants that the process left behind. Its output stays readable until disposal. */
  endRest(): Promise<void>;
}

/** Starts a program in its own process group on this machine; `environment` is the host's allow-listed one. */
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
    this.output = holdOutput(this.#child.stdout);
    // A program that closed its input must not end this process with EPIPE; writers see `ended`.
    this.input.on("error", () => {});
    this.#child.stderr.on("error", () => {});
    this.#child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#errorText = (this.#errorText + text).slice(-errorTailChars);
    });
    const end = Promise.withResolvers<ProcessEnd>();
    this.ended = end.promise;
    // Callers that wait for it see the rejection; waiting is optional.
    this.ended.catch(() => {});
    this.#child.once("error", (error) => end.reject(error));
    this.#child.once("exit", (exitCode, signal) => {
      const resolveEnd = (): void => end.resolve({ exitCode, signal, errorText: this.#errorText });
      // Its last output may still arrive, and a child may hold the other end open for ever. So output that arrived while this process
      // was busy is read before the timeout counts.
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

  /** The process group for systems without a process table; the marker because wrappers start groups of their own. */
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
