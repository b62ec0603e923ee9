import { readFileSync } from "node:fs";

/** What a process has of the machine's memory, from /proc; not a number on systems that have none. */
export function residentMegabytes(pid: number | undefined): number {
  if (process.platform !== "linux") return Number.NaN;
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}
