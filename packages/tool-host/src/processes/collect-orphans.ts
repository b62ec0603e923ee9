import { randomUUID } from "node:crypto";
import { endProcesses } from "./end-processes.ts";
import { guardianVariable } from "./guardian.ts";
import { groupByEnvironment, readProcess, systemTable } from "../system/process-table.ts";

/** Parses the owner out of a guardian's marker. When the owner is gone, processes with its marker are orphans. */
export function createMarker(role: "convoke" | "convoke-host"): string {
  const startTicks = readProcess(process.pid)?.startTicks ?? 0;
  return `${role}.${process.pid}.${startTicks}.${systemTable.processNamespace()}.${randomUUID()}`;
}

/**
 * Ends orphans of earlier hosts that were killed together with their guardians. Process ids are reused, so an owner is identified by
 * its start time too. Only owners in our own process table are considered. Resolves with the number of orphans.
 */
export async function collectOrphans(): Promise<number> {
  const found = findOrphans();
  await endProcesses(() => ({ pids: findOrphans(), groupIds: [] }), { graceMs: 1_000, killMs: 2_000 });
  return found.length;
}

const markerForm = /^convoke(?:-host)?\.(\d+)\.(\d+)\.(\d+)\.[0-9a-f-]{36}$/;

function findOrphans(): number[] {
  const namespace = systemTable.processNamespace();
  // Without the namespace it is unknown which process table an id belongs to.
  if (namespace === "0") return [];
  return [...groupByEnvironment(guardianVariable)].flatMap(([marker, entries]) =>
    isOfLostOwner(marker, namespace) ? entries.map(({ pid }) => pid) : [],
  );
}

function isOfLostOwner(marker: string, namespace: string): boolean {
  const [, ownerId, ownerTicks, ownerNamespace] = markerForm.exec(marker) ?? [];
  if (ownerId === undefined || ownerNamespace !== namespace) return false;
  return readProcess(Number(ownerId))?.startTicks !== Number(ownerTicks);
}
