import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { promisify } from "node:util";
import { describeError } from "../../lib/describe-error.ts";
import { noControlGroups, type ControlGroups } from "./control-groups.ts";
import { findOwnGroup, isThere } from "./group-files.ts";
import { findTreeRoot, GroupTree, treeDetail, whyNoTree } from "./group-tree.ts";
import { SystemdScopes } from "./systemd-scopes.ts";

export type OpenControlGroupsDeps = {
  readonly uid: number;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Instead of the kernel's. */
  readonly files?: {
    readonly ownGroups: string;
    readonly mounts: string;
    /** There when systemd runs this machine. */
    readonly systemd: string;
  };
  /** Changes nothing of the server's own group and makes no trial in it, e.g. to tell people. */
  readonly isUntried?: boolean;
  /** See `GroupTree`. */
  readonly removeFolder?: (path: string) => Promise<void>;
};

const kernelFiles = {
  ownGroups: "/proc/self/cgroup",
  mounts: "/proc/self/mountinfo",
  systemd: "/run/systemd/system",
};
const run = promisify(execFile);
const trialMs = 5_000;
const trialLimits = { memoryMb: 64, pids: 32, cpus: 1 };

/**
 * Finds out by a trial how processes can be limited together here. Never rejects: where anything fails there are no groups, and the
 * reason is in `detail`.
 */
export async function openControlGroups(deps: OpenControlGroupsDeps): Promise<ControlGroups> {
  try {
    return await findControlGroups(deps);
  } catch (error) {
    const { stderr = "" } = error as { readonly stderr?: string };
    const reason = stderr.trim().split("\n").at(-1) || describeError(error);
    return noControlGroups(`a trial of control groups failed: ${reason}`);
  }
}

async function findControlGroups(deps: OpenControlGroupsDeps): Promise<ControlGroups> {
  const { uid, environment, files = kernelFiles, removeFolder } = deps;
  if (process.platform !== "linux") return noControlGroups("this system has no control groups");
  const mounts = await readFile(files.mounts, "utf8");
  const own = findOwnGroup(await readFile(files.ownGroups, "utf8"), mounts);
  if (own === null) return noControlGroups("this machine has no control groups v2");
  const root = await findTreeRoot(own);
  const reason = await whyNoTree(root);
  if ((await isThere(files.systemd)) && (reason !== null || !(await isDelegated(root, environment))))
    return await SystemdScopes.open({ uid, environment, mounts });
  if (reason !== null) return noControlGroups(reason);
  if (deps.isUntried === true) return { ...noControlGroups(treeDetail), kind: "group" };
  const tree = await GroupTree.open({ root, ...(removeFolder === undefined ? {} : { removeFolder }) });
  await tryGroup(tree, environment);
  await tree.removeLeft(isOfEndedServer);
  return tree;
}

/** The name of a group that goes with this process. */
export function groupOfProcess(name: string): string {
  return `of-${process.pid}-${name}`;
}

function isOfEndedServer(name: string): boolean {
  const pid = Number(/^of-(\d+)-/.exec(name)?.[1]);
  if (Number.isNaN(pid)) return false;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}

/** A group, its limits and a process in it. */
async function tryGroup(
  groups: ControlGroups,
  { PATH = "/usr/bin:/bin" }: OpenControlGroupsDeps["environment"],
): Promise<void> {
  const name = groupOfProcess(`trial-${randomUUID().slice(0, 8)}`);
  try {
    const { wrap } = await groups.open(name, trialLimits);
    const { file, args } = wrap({ file: "/bin/true", args: [] });
    await run(file, args, { timeout: trialMs, env: { PATH } });
  } finally {
    await groups.remove(name);
  }
}

/** Whether systemd leaves the groups below this unit to the unit itself. Root may write into those of others as well. */
async function isDelegated(
  root: string,
  { PATH = "/usr/bin:/bin", XDG_RUNTIME_DIR }: OpenControlGroupsDeps["environment"],
): Promise<boolean> {
  const isOfUser = /\/user@\d+\.service\/./.test(root);
  const args = [
    ...(isOfUser ? ["--user"] : []),
    "show",
    "--property=Delegate",
    "--value",
    "--",
    basename(root),
  ];
  const env = { PATH, ...(XDG_RUNTIME_DIR === undefined ? {} : { XDG_RUNTIME_DIR }) };
  return await run("systemctl", args, { timeout: trialMs, env }).then(
    ({ stdout }) => stdout.trim() === "yes",
    // A unit that systemd does not tell about gets scopes, whose trial says what is wrong.
    () => false,
  );
}
