import { randomUUID } from "node:crypto";
import { readlinkSync } from "node:fs";
import { endProcesses } from "./end-processes.ts";
import { guardianVariable } from "./guardian.ts";
import { listProcesses, readEnvironment, readProcess } from "./process-table.ts";

/** A guardian's marker that says whose it is: what carries it after that process's end belongs to nobody. */
export function createMarker(role: "convoke" | "convoke-host"): string {
  const startTicks = readProcess(process.pid)?.startTicks ?? 0;
  return `${role}.${process.pid}.${startTicks}.${readPidNamespace()}.${randomUUID()}`;
}

/**
 * Ends what earlier hosts left behind because they and their guardians were killed together. Ids of processes come again, so an
 * owner is told by its start too, and only those of our own table of processes count. Resolves with how many there were.
 */
export async function collectOrphans(): Promise<number> {
  const found = findOrphans();
  await endProcesses(() => ({ pids: findOrphans(), groupIds: [] }), { graceMs: 1_000, killMs: 2_000 });
  return found.length;
}

const markerForm = /^convoke(?:-host)?\.(\d+)\.(\d+)\.(\d+)\.[0-9a-f-]{36}$/;

function findOrphans(): number[] {
  const namespace = readPidNamespace();
  // Without it nothing tells whose table of processes an id is from.
  if (namespace === "0") return [];
  return listProcesses()
    .filter(({ pid, state }) => state !== "Z" && isOrphan(pid, namespace))
    .map(({ pid }) => pid);
}

function isOrphan(pid: number, namespace: string): boolean {
  const [, ownerId, ownerTicks, ownerNamespace] =
    markerForm.exec(readEnvironment(pid, guardianVariable) ?? "") ?? [];
  if (ownerId === undefined || ownerNamespace !== namespace) return false;
  return readProcess(Number(ownerId))?.startTicks !== Number(ownerTicks);
}

/** "0" where there is none. */
function readPidNamespace(): string {
  try {
    return /\d+/.exec(readlinkSync("/proc/self/ns/pid"))?.[0] ?? "0";
  } catch {
    // Another system than Linux.
    return "0";
  }
}
