import { basename } from "node:path";
import { readCommandLine, readProcess } from "../../system/process-table.ts";

/**
 * State of a quiet shell process: `waiting` means that the shell, and no program that it started, has the terminal; `replaced` means
 * that a fresh interactive bash took its place (`exec bash`).
 */
export type ShellState = "busy" | "stopped" | "waiting" | "replaced";

/** Reads the process table; `busy` without one. `commandLine` is how our shell was started. */
export function readShellState(pid: number, commandLine: string | undefined): ShellState {
  const entry = readProcess(pid);
  if (entry === undefined) return "busy";
  if (entry.state === "T") return "stopped";
  if (entry.foregroundGroupId !== entry.groupId || entry.state !== "S") return "busy";
  const current = readCommandLine(pid);
  if (current === commandLine) return "waiting";
  return current !== undefined && isInteractiveBash(current) ? "replaced" : "busy";
}

function isInteractiveBash(commandLine: string): boolean {
  const [program = "", ...options] = commandLine.split("\0").slice(0, -1);
  return (
    basename(program).replace(/^-/, "") === "bash" &&
    options.every((option) => /^-(?:-login|l|i|li|il)$/.test(option))
  );
}
