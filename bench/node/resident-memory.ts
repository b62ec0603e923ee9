import { readFileSync } from "node:fs";

/** Resident memory of a process, from /proc; NaN on other systems. */
export function residentMegabytes(pid: number | undefined): number {
  if (process.platform !== "linux") return Number.NaN;
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}

/** The private part of it: without the program's own code and libraries, which its processes share. */
export function privateMegabytes(pid: number): number {
  if (process.platform !== "linux") return Number.NaN;
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  const kilobytes = [...rollup.matchAll(/^Private_\w+:\s+(\d+) kB$/gm)].map(([, count]) => Number(count));
  return kilobytes.reduce((sum, count) => sum + count, 0) / 1024;
}
