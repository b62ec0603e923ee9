import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import type { ControlGroup, ControlGroups, GroupCommand, GroupLimits } from "./control-groups.ts";
import { findOwnGroup, limitFiles, optionalFiles, readMemoryEnds } from "./group-files.ts";

export type SystemdScopesDeps = {
  readonly uid: number;
  /** The server's environment: of it only `PATH` and the way to the user's systemd are used. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Content of /proc/self/mountinfo. */
  readonly mounts: string;
};

const run = promisify(execFile);
const trialMs = 5_000;
const trialLimits: GroupLimits = { memoryMb: 64, pids: 32, cpus: 1 };

/** Scopes of systemd, of the user or, for root, of the system: each is a group for one command, and goes with its last process. */
export class SystemdScopes implements ControlGroups {
  readonly kind = "group";
  readonly detail: string;
  readonly #deps: SystemdScopesDeps;
  /** The folder in which systemd makes these scopes. */
  readonly #folder: string;

  private constructor(deps: SystemdScopesDeps, folder: string) {
    this.#deps = deps;
    this.#folder = folder;
    this.detail = `control groups v2, as scopes of systemd${deps.uid === 0 ? "" : " for this user"}`;
  }

  /** Starts a scope that reads its own limits. Rejects where that fails, or where a limit was not set. */
  static async open(deps: SystemdScopesDeps): Promise<SystemdScopes> {
    const unit = unitOf("trial");
    const files = Object.keys(limitFiles(trialLimits)).filter((name) => !optionalFiles.includes(name));
    const place = findOwnGroup("0::/", deps.mounts) ?? "";
    const { file, args } = scopeCommand(deps.uid, unit, trialLimits, {
      file: "/bin/sh",
      args: ["-c", trialScript, "convoke-trial", place, ...files],
    });
    const { stdout } = await run(file, args, {
      timeout: trialMs,
      env: { PATH: deps.environment["PATH"] ?? "/usr/bin:/bin", ...busOf(deps) },
    });
    const [path = "", ...limits] = stdout.trim().split("\n");
    const group = findOwnGroup(path, deps.mounts);
    if (group === null) throw new Error("systemd-run made no scope in control groups v2");
    const wanted = files.map((name) => limitFiles(trialLimits)[name]);
    if (limits.join(" ") !== wanted.join(" ")) throw new Error("systemd did not set the limits of a scope");
    return new SystemdScopes(deps, dirname(group));
  }

  async open(name: string, limits: GroupLimits): Promise<ControlGroup> {
    // Never twice: the last scope of this name may still be ending.
    const unit = unitOf(name);
    return {
      wrap: (command) => scopeCommand(this.#deps.uid, unit, limits, command),
      environment: busOf(this.#deps),
      countMemoryEnds: () => readMemoryEnds(join(this.#folder, unit)),
    };
  }

  async remove(): Promise<void> {}
}

/** Prints the own group, then its limits. */
const trialScript = `grep ^0:: /proc/self/cgroup || exit 1; place=$1$(grep ^0:: /proc/self/cgroup | cut -d: -f3); shift; for name; do cat "$place/$name" || exit 1; done`;

function unitOf(name: string): string {
  return `convoke-${name}-${randomUUID().slice(0, 8)}.scope`;
}

/** systemd-run becomes the command, so the process id is the command's. */
function scopeCommand(
  uid: number,
  unit: string,
  limits: GroupLimits,
  { file, args }: GroupCommand,
): GroupCommand {
  const { memoryMb, pids, cpus } = limits;
  return {
    file: "systemd-run",
    args: [
      ...(uid === 0 ? [] : ["--user"]),
      "--scope",
      "--quiet",
      "--collect",
      `--unit=${unit}`,
      "-p",
      `MemoryMax=${memoryMb}M`,
      "-p",
      "MemorySwapMax=0",
      "-p",
      `TasksMax=${pids}`,
      ...(cpus === null ? [] : ["-p", `CPUQuota=${Math.round(cpus * 100)}%`]),
      "--",
      file,
      ...args,
    ],
  };
}

/** The way to the user's systemd. */
function busOf({ uid, environment }: SystemdScopesDeps): Record<string, string> {
  if (uid === 0) return {};
  const { XDG_RUNTIME_DIR: folder = `/run/user/${uid}`, DBUS_SESSION_BUS_ADDRESS: bus } = environment;
  return { XDG_RUNTIME_DIR: folder, ...(bus === undefined ? {} : { DBUS_SESSION_BUS_ADDRESS: bus }) };
}
