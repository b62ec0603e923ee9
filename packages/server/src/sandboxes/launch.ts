import { spawn } from "node:child_process";
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
    const child = spawn(file, args, {
      cwd,
      env: environment,
      detached: true,
      stdio: [
        "ignore",
        log.fd,
        log.fd,
        ...descriptors.map((content) => (typeof content === "number" ? content : ("pipe" as const))),
      ],
    });
    await once(child, "spawn");
    for (const [index, content] of descriptors.entries()) {
      if (typeof content !== "number") giveContent(child.stdio[index + 3] as Writable, content);
    }
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

function giveContent(pipe: Writable, content: string | Buffer): void {
  // A program that ends before it has read everything says so itself, in its log.
  pipe.on("error", () => {});
  pipe.end(content);
}
