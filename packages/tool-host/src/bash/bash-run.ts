import { spawn } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:os";
import { setImmediate as untilPolled, setTimeout as sleep } from "node:timers/promises";
import type { ChildProcessByStdio } from "node:child_process";
import type { Readable } from "node:stream";
import { describeError } from "../describe-error.ts";
import { endProcesses } from "../processes/end-processes.ts";
import type { ToolSecret } from "../tool.ts";
import { OutputChunks } from "./output-chunks.ts";
import type { OutputLimits, OutputChunk } from "./output-chunks.ts";

export type BashRunDeps = {
  readonly id: string;
  readonly command: string;
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly secrets: readonly ToolSecret[];
  readonly onChunk: (chunk: OutputChunk) => void;
  /** Aborts to end the command. The reason completes the sentence "The command was ended because". */
  readonly signal: AbortSignal;
  readonly limits?: Partial<OutputLimits>;
};

/** The last chunk of output, and the exit code. */
export type BashEnd = OutputChunk & { readonly exitCode: number };

/** Environment variable of everything that a command starts. */
const commandVariable = "CONVOKE_COMMAND";

/** Milliseconds from TERM to KILL, and from KILL until the processes are given up. */
const endOptions = { graceMs: 1_000, killMs: 1_000 };

/** After the shell's end its pipes may still hold output. Reading stops when they are silent for this many milliseconds. */
const silenceMs = 10;
/** Maximum delay of a timer. */
const longestTimerMs = 2 ** 31 - 1;
const maxSilences = 50;

/** Runs one command to its end; never rejects. A shell that cannot be started ends with -1 and the reason as its output. */
export async function runBash(deps: BashRunDeps): Promise<BashEnd> {
  const output = new OutputChunks({
    secrets: deps.secrets,
    onChunk: deps.onChunk,
    ...(deps.limits === undefined ? {} : { limits: deps.limits }),
  });
  const environment = { ...deps.environment, [commandVariable]: deps.id };
  let child: Shell;
  try {
    child = await openShell(deps.command, deps.cwd, environment);
  } catch (error) {
    return { stdout: "", stderr: startFailure(error, deps.cwd), exitCode: -1 };
  }
  const exited = once(child, "exit") as Promise<[number | null, NodeJS.Signals | null]>;
  let arrived = 0;
  for (const name of ["stdout", "stderr"] as const) {
    child[name].on("data", (bytes: Buffer) => {
      arrived += bytes.length;
      output.push(name, bytes);
    });
  }
  const { ending, exit } = await untilExit(child, exited, deps);
  for (let silences = 0, seen = -1; seen !== arrived && silences < maxSilences; silences += 1) {
    seen = arrived;
    await sleep(silenceMs);
    // If this process was held up, the time may be over before it has polled the pipes.
    await untilPolled();
  }
  letGo(child);
  const rest = output.end(ending !== null || exit[1] !== null);
  const stderr = ending === null ? rest.stderr : rest.stderr + ending;
  return { stdout: rest.stdout, stderr, exitCode: ending === null ? toExitCode(exit) : -1 };
}

type Shell = ChildProcessByStdio<null, Readable, Readable>;

/** Starts the shell in a process group of its own, so that everything can be ended, and with empty standard input. */
async function openShell(
  command: string,
  cwd: string,
  environment: Readonly<Record<string, string>>,
): Promise<Shell> {
  const child = spawn("/bin/sh", ["-c", command], {
    cwd,
    env: environment,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  await once(child, "spawn");
  return child;
}

type Exit = readonly [code: number | null, signal: NodeJS.Signals | null];

/** Resolves when the shell has exited. `ending` is why we ended it; null when it ended by itself. */
async function untilExit(
  child: { readonly pid?: number | undefined },
  exited: Promise<Exit>,
  deps: BashRunDeps,
): Promise<{ readonly ending: string | null; readonly exit: Exit }> {
  const late = Promise.withResolvers<string>();
  const timer = setTimeout(
    () => late.resolve(`\nThe command was ended after its limit of ${deps.timeoutMs / 1_000} s.\n`),
    Math.min(deps.timeoutMs, longestTimerMs),
  ).unref();
  const onAbort = (): void =>
    late.resolve(`\nThe command was ended because ${String(deps.signal.reason)}.\n`);
  deps.signal.addEventListener("abort", onAbort);
  if (deps.signal.aborted) onAbort();
  try {
    const first = await Promise.race([exited, late.promise]);
    if (typeof first !== "string") return { ending: null, exit: first };
    const { pid = 0 } = child;
    let hasExited = false;
    void exited.then(() => (hasExited = true));
    // A child may have left the process group; its marker still identifies it.
    await endProcesses(
      (scan) => ({
        pids: scan.marked(commandVariable, deps.id).map((entry) => entry.pid),
        groupIds: hasExited ? [] : [pid],
      }),
      endOptions,
    );
    return { ending: first, exit: hasExited ? await exited : [null, "SIGKILL"] };
  } finally {
    clearTimeout(timer);
    deps.signal.removeEventListener("abort", onAbort);
  }
}

/** Background processes may keep printing: their output is read, so that they do not block, and dropped. */
function letGo(child: Shell): void {
  for (const stream of [child.stdout, child.stderr]) {
    stream.removeAllListeners("data");
    stream.resume();
    if ("unref" in stream && typeof stream.unref === "function") stream.unref();
  }
  child.unref();
}

/** A signal becomes its negative number. */
function toExitCode([code, signal]: Exit): number {
  return code ?? -(signal === null ? 1 : constants.signals[signal]);
}

function startFailure(error: unknown, cwd: string): string {
  const { code } = error as NodeJS.ErrnoException;
  // A missing shell gives the same error, but every supported system has one.
  if (code === "ENOENT" || code === "ENOTDIR") return `The directory ${cwd} does not exist.\n`;
  return `The command could not be started: ${describeError(error)}\n`;
}
