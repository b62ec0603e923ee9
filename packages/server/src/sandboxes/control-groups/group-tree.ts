import { access, constants, mkdir, readdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ControlGroup, ControlGroups, GroupLimits } from "./control-groups.ts";
import { isAbsent, isThere, limitFiles, optionalFiles, readMemoryEnds } from "./group-files.ts";

export type GroupTreeDeps = {
  /** Absolute folder of the group that was delegated to this server. */
  readonly root: string;
  /** Removes the folder of a group, which its files do not keep from being empty. */
  readonly removeFolder?: (path: string) => Promise<void>;
};

/** For people. */
export const treeDetail = "control groups v2, in the server's own group";

/** The group of the server's own processes: a group with groups below it must have no processes itself. */
const serverName = "server";
/** The folder of the groups that this module makes. */
const toolsName = "tools";
const needed = ["memory", "pids"];
const removalRounds = 100;
const removalPauseMs = 20;

/** The group that was delegated: the own one, or the one above it when this server has moved into `server` before. */
export async function findTreeRoot(ownGroup: string): Promise<string> {
  const parent = dirname(ownGroup);
  const isMoved = basename(ownGroup) === serverName && (await isThere(join(parent, toolsName)));
  return isMoved ? parent : ownGroup;
}

/** Why groups cannot be made below this one; null when they can. Changes nothing. */
export async function whyNoTree(root: string): Promise<string | null> {
  const controllers = (await readFile(join(root, "cgroup.controllers"), "utf8")).trim().split(" ");
  const missing = needed.filter((name) => !controllers.includes(name));
  if (missing.length > 0)
    return `control groups v2 do not control ${missing.join(" and ")} here (version 1 may have them)`;
  for (const name of ["", "cgroup.procs", "cgroup.subtree_control"]) {
    const isWritable = await access(join(root, name), constants.W_OK).then(
      () => true,
      () => false,
    );
    if (!isWritable)
      return "the server's control group was not delegated to it (Delegate=yes of its service)";
  }
  return null;
}

/** Groups below the one that was delegated to the server. */
export class GroupTree implements ControlGroups {
  readonly kind = "group";
  readonly detail: string;
  readonly #tools: string;
  readonly #removeFolder: (path: string) => Promise<void>;

  private constructor({ root, removeFolder = rmdir }: GroupTreeDeps, detail: string) {
    this.#tools = join(root, toolsName);
    this.#removeFolder = removeFolder;
    this.detail = detail;
  }

  /** Moves the processes of the group into `server` where that is needed. Rejects where the kernel refuses. */
  static async open(deps: GroupTreeDeps): Promise<GroupTree> {
    const { root } = deps;
    const controllers = (await readFile(join(root, "cgroup.controllers"), "utf8")).trim().split(" ");
    const wanted = [...needed, "cpu"].filter((name) => controllers.includes(name));
    const control = wanted.map((name) => `+${name}`).join(" ");
    await handDown(root, control);
    await mkdir(join(root, toolsName), { recursive: true });
    await writeFile(join(root, toolsName, "cgroup.subtree_control"), control);
    const withoutCpu = wanted.includes("cpu") ? "" : ", without processors";
    return new GroupTree(deps, `${treeDetail}${withoutCpu}`);
  }

  async open(name: string, limits: GroupLimits): Promise<ControlGroup> {
    const group = join(this.#tools, name);
    await mkdir(group, { recursive: true });
    for (const [file, content] of Object.entries(limitFiles(limits))) {
      await writeFile(join(group, file), content).catch((error: unknown) => {
        if (!optionalFiles.includes(file)) throw error;
      });
    }
    return {
      wrap: ({ file, args }) => ({
        file: "/bin/sh",
        args: ["-c", enterScript, "convoke-group", join(group, "cgroup.procs"), file, ...args],
      }),
      environment: {},
      countMemoryEnds: () => readMemoryEnds(group),
    };
  }

  async remove(name: string): Promise<void> {
    const group = join(this.#tools, name);
    for (let round = 0; ; round += 1) {
      try {
        // Kernels before 5.14 lack the file; its processes are ended by their starter.
        await writeFile(join(group, "cgroup.kill"), "1", { flag: "r+" }).catch(() => undefined);
        await this.#removeFolder(group);
        return;
      } catch (error) {
        if (isAbsent(error)) return;
        // A process that was killed stays in its group until it is gone.
        if ((error as NodeJS.ErrnoException).code !== "EBUSY" || round === removalRounds) throw error;
        await sleep(removalPauseMs);
      }
    }
  }

  /** Removes groups without processes for which `isLeft` is true: a server ended without doing so. */
  async removeLeft(isLeft: (name: string) => boolean): Promise<void> {
    const entries = await readdir(this.#tools, { withFileTypes: true });
    for (const entry of entries) {
      if (!entry.isDirectory() || !isLeft(entry.name)) continue;
      await this.#removeFolder(join(this.#tools, entry.name)).catch((error: unknown) => {
        if ((error as NodeJS.ErrnoException).code !== "EBUSY" && !isAbsent(error)) throw error;
      });
    }
  }
}

/** The process id stays the same, and nothing runs before the process is in the group. */
const enterScript = `echo $$ >"$1" || exit 1; shift; exec "$@"`;

/** Lets groups below `root` have limits. The processes in it move into a group of their own first, unless it is the kernel's root. */
async function handDown(root: string, control: string): Promise<void> {
  for (let round = 0; ; round += 1) {
    try {
      await writeFile(join(root, "cgroup.subtree_control"), control);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EBUSY" || round === 5) throw error;
    }
    const server = join(root, serverName);
    await mkdir(server, { recursive: true });
    const pids = (await readFile(join(root, "cgroup.procs"), "utf8")).split("\n").filter((pid) => pid !== "");
    for (const pid of pids) {
      await writeFile(join(server, "cgroup.procs"), pid).catch((error: unknown) => {
        // It has ended meanwhile.
        if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
      });
    }
  }
}
