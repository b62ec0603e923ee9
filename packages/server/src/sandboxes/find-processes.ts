import { findMarkedProcesses, listProcesses, readCommandLine, type ProcessEntry } from "@convoke/tool-host";
import { findSame, type ProcessKey } from "./process-group.ts";

/** Names the sandbox in the environment or the arguments of its first process. */
export const markerVariable = "CONVOKE_SANDBOX";

/** What the guardian of a tool host has among its arguments: the mark of everything that the tool host starts. */
const guardianMark = /\0convoke-guardian\0([A-Z_]+=[\w.-]+)\0/;

/** Live processes that were started with `NAME=marker`, in their environment or as two arguments. */
export function findMarked(marker: string): ProcessEntry[] {
  const inArguments = `\0${markerVariable}\0${marker}\0`;
  const found = new Map<number, ProcessEntry>();
  for (const entry of findMarkedProcesses(`${markerVariable}=${marker}`)) found.set(entry.pid, entry);
  for (const entry of listProcesses()) {
    if (entry.state !== "Z" && readCommandLine(entry.pid)?.includes(inArguments)) found.set(entry.pid, entry);
  }
  return [...found.values()];
}

/**
 * The processes of `roots` that still run, everything that descends from them, and, everything that carries one of
 * `marks`: what left its parents still has the environment that its tool host gave it.
 */
export function findFamily(roots: readonly ProcessKey[], marks: readonly string[]): ProcessEntry[] {
  const family = new Map<number, ProcessEntry>();
  const seeds = roots.flatMap((root) => findSame(root) ?? []);
  for (const mark of marks) seeds.push(...findMarkedProcesses(mark));
  const byParent = Map.groupBy(listProcesses(), ({ parentPid }) => parentPid);
  const add = (entry: ProcessEntry): void => {
    if (family.has(entry.pid) || entry.state === "Z") return;
    family.set(entry.pid, entry);
    for (const child of byParent.get(entry.pid) ?? []) add(child);
  };
  for (const seed of seeds) add(seed);
  return [...family.values()];
}

/** `NAME=value` that everything started by the tool host `leader` carries, null when it has no guardian. */
export function findGuardianMark(leader: ProcessKey): string | null {
  for (const entry of listProcesses()) {
    if (entry.parentPid !== leader.pid) continue;
    const [, mark] = guardianMark.exec(readCommandLine(entry.pid) ?? "") ?? [];
    if (mark !== undefined) return mark;
  }
  return null;
}
