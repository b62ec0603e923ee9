import { readdirSync, readFileSync } from "node:fs";

/** Of the kernel's clock for processes, on every Linux that Node runs on. */
const ticksPerSecond = 100;

/** A process and those that it has started, without theirs. */
export function processTree(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ");
  return [pid, ...children.filter((child) => child.trim() !== "").map(Number)];
}

/** Processor time of each thread of a process since it began, in milliseconds. */
export function threadTimes(pid: number): ReadonlyMap<string, number> {
  const threads = readdirSync(`/proc/${pid}/task`).map((thread): [string, number] => {
    const fields = readFileSync(`/proc/${pid}/task/${thread}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
    return [thread, ((Number(fields[11]) + Number(fields[12])) / ticksPerSecond) * 1000];
  });
  return new Map(threads);
}
