import { readdirSync, readFileSync } from "node:fs";

/** Ticks per second of the kernel's process clock, on every Linux that Node supports. */
const ticksPerSecond = 100;

/** A process and its children, without grandchildren. */
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
