import { basename } from "node:path";
import { readCommandLine, readProcess } from "../../processes/process-table.ts";

/**
 * What the shell process is doing when nothing has been heard for a while: `waiting` means that it, and no program it
 * started, has the terminal; `replaced` that a fresh interactive bash took its place (`exec bash`).
 */
export type ShellState = "busy" | "stopped" | "waiting" | "replaced";

/** Looks at the process table; `busy` where there is none. `commandLine` is how our shell was started. */
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
