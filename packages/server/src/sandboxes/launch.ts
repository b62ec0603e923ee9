import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { open } from "node:fs/promises";
import type { Writable } from "node:stream";
import { readProcess } from "@convoke/tool-host";
import { describeError } from "../lib/describe-error.ts";
import type { ProcessKey } from "./process-group.ts";
import { SandboxError } from "./sandbox.ts";
import type { SandboxDirectory } from "./sandbox-directory.ts";

export type Launch = {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly directory: SandboxDirectory;
  /** Descriptors from 3 on: open ones by number, or what can be read there. */
  readonly descriptors?: readonly (number | string | Buffer)[];
};

/**
 * Starts a program that outlives us: in a session of its own, with its output in the sandbox's log instead of a pipe that
 * would break with us.
 */
export async function launchDetached(launch: Launch): Promise<ProcessKey> {
  const { file, args, cwd, environment, directory, descriptors = [] } = launch;
  const log = await open(directory.logFile, "a", 0o600);
  try {
    const child = await spawnWith(file, args, { cwd, env: environment, log: log.fd, descriptors });
    child.unref();
    const entry = readProcess(child.pid ?? 0);
    // Without a process table, reused process ids cannot be detected by their start time.
    return { pid: child.pid ?? 0, startTicks: entry?.startTicks ?? 0 };
  } catch (error) {
    throw new SandboxError(`${file} could not be started: ${describeError(error)}`, { cause: error });
  } finally {
    await log.close();
  }
}

type Spawning = {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Descriptor that the output goes to. */
  readonly log: number;
  readonly descriptors: readonly (number | string | Buffer)[];
};

/** Starts a program in a session of its own, so that a Ctrl-C at the server's terminal reaches only the server. */
export async function spawnWith(
  file: string,
  args: readonly string[],
  { cwd, env, log, descriptors }: Spawning,
): Promise<ChildProcess> {
  const passed = descriptors.map((content) => (typeof content === "number" ? content : ("pipe" as const)));
  const child = spawn(file, args, { cwd, env, detached: true, stdio: ["ignore", log, log, ...passed] });
  await once(child, "spawn");
  for (const [index, content] of descriptors.entries()) {
    if (typeof content === "number") continue;
    const pipe = child.stdio[index + 3] as Writable;
    // A program that ends before it has read everything says so itself, in its log.
    pipe.on("error", () => {});
    pipe.end(content);
  }
  return child;
}
