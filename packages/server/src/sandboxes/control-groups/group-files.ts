import { access, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { GroupLimits } from "./control-groups.ts";

/** Processor time is dealt out in periods of this many microseconds. */
const cpuPeriodMicroseconds = 100_000;

/** Files of a group and their content, see cgroup-v2.rst of the kernel. */
export function limitFiles({ memoryMb, pids, cpus }: GroupLimits): Record<string, string> {
  const quota = cpus === null ? "max" : String(Math.round(cpus * cpuPeriodMicroseconds));
  return {
    "memory.max": String(memoryMb * 1024 * 1024),
    "memory.swap.max": "0",
    "pids.max": String(pids),
    "cpu.max": `${quota} ${cpuPeriodMicroseconds}`,
  };
}

/** Kernels without swap accounting, and groups to which no processors were delegated, lack these. */
export const optionalFiles: readonly string[] = ["memory.swap.max", "cpu.max"];

/** The number of processes that were ended because the group was out of memory; 0 when the group is gone. */
export async function readMemoryEnds(group: string): Promise<number> {
  const text = await readFile(join(group, "memory.events"), "utf8").catch((error: unknown) => {
    if (isAbsent(error)) return "";
    throw error;
  });
  return Number(/^oom_kill (\d+)$/m.exec(text)?.[1] ?? 0);
}

/** The file is not there, or its group was removed while it was read. */
export function isAbsent(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "ENOENT" || code === "ENODEV";
}

/** The folder of this process's own group of version 2; null where no such hierarchy is mounted. */
export function findOwnGroup(ownGroups: string, mounts: string): string | null {
  const path = /^0::(\/.*)$/m.exec(ownGroups)?.[1];
  const mount = mounts
    .split("\n")
    .map((line) => line.split(" "))
    .find((fields) => fields[fields.indexOf("-") + 1] === "cgroup2" && fields[3] === "/");
  const place = mount?.[4];
  // A path that begins with `/..` is outside of what this container may see.
  if (path === undefined || place === undefined || path.startsWith("/..")) return null;
  return join(place, path);
}

export async function isThere(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}
