import { hasProc, procTable } from "./proc-table.ts";
import { createPsTable } from "./ps-table.ts";
import type { SystemTable } from "./system-table.ts";

/** The process table of this machine: chosen once, by what the machine has and not by the system's name. */
export const systemTable: SystemTable = hasProc() ? procTable : createPsTable();

export const {
  isThere: hasProcessTable,
  readProcess,
  listProcesses,
  findMarkedProcesses,
  groupByEnvironment,
  readEnvironment,
  readCommandLine,
  readProgram,
  ignoresSignal,
  ticksNow,
} = systemTable;

export type { ProcessEntry } from "./system-table.ts";
