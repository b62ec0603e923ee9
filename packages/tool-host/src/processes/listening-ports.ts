import { realpathSync } from "node:fs";
import { isAbsolute, relative } from "node:path";
import { guardianVariable } from "./guardian.ts";
import { systemTable } from "../system/process-table.ts";
import type { Listener, SystemTable } from "../system/system-table.ts";

/** A port that a program of a workspace listens on. */
export type ListeningPort = {
  readonly port: number;
  /** Address on this machine to reach it. */
  readonly host: Listener["host"];
  /** Name of the executable, e.g. `node`. */
  readonly program: string;
};

/**
 * Ports of programs that a host with this environment has started and that work in `folder`, sorted. Excludes ports on other
 * than local addresses, and this process. Empty where the system does not report them.
 */
export function listListeningPorts(
  folder: string,
  environment: Readonly<Record<string, string>>,
  table: SystemTable = systemTable,
): ListeningPort[] {
  const root = realFolder(folder);
  if (root === null) return [];
  const marker = environment[guardianVariable];
  const others = table.listProcesses().flatMap(({ pid }) => (pid === process.pid ? [] : [pid]));
  const ours = [...table.workingFolders(others)].flatMap(([pid, at]) =>
    isWithin(root, at) && (marker === undefined || table.readEnvironment(pid, guardianVariable) === marker)
      ? [pid]
      : [],
  );
  const found = new Map<number, ListeningPort>();
  for (const { pid, port, host } of table.listenersOf(ours))
    found.set(port, { port, host, program: table.readProgram(pid)?.split("/").at(-1) ?? "" });
  return [...found.values()].toSorted((left, right) => left.port - right.port);
}

/** Null when the folder does not exist. */
function realFolder(folder: string): string | null {
  try {
    return realpathSync(folder);
  } catch {
    // Gone or owned by another user: it does not count as working in the folder.
    return null;
  }
}

function isWithin(folder: string, at: string): boolean {
  const path = relative(folder, at);
  return path === "" || (!isAbsolute(path) && path !== ".." && !path.startsWith("../"));
}
