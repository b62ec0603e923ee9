import { readdirSync, readlinkSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { listProcesses } from "../system/process-table.ts";

export type LeakCheck = {
  /** Rejects when, after a minute or the time given, child processes or open files are left that were not there at the start. */
  readonly assertNone: (limitMs?: number) => Promise<void>;
};

/** Records this process's children and open files; Linux only (elsewhere nothing is seen). */
export function watchLeaks(): LeakCheck {
  const before = takeStock();
  return {
    assertNone: async (limitMs = 60_000) => {
      const deadline = performance.now() + limitMs;
      let left = describeLeft(before);
      while (left !== "" && performance.now() < deadline) {
        await sleep(20);
        left = describeLeft(before);
      }
      if (left !== "") throw new Error(`Left behind: ${left}`);
    },
  };
}

type Stock = { readonly children: ReadonlySet<number>; readonly files: readonly string[] };

function takeStock(): Stock {
  const children = listProcesses().filter((entry) => entry.parentPid === process.pid);
  return { children: new Set(children.map((entry) => entry.pid)), files: openFiles() };
}

function describeLeft(before: Stock): string {
  const now = takeStock();
  const children = [...now.children].filter((pid) => !before.children.has(pid));
  const hasMoreFiles = now.files.length > before.files.length;
  const files = hasMoreFiles ? now.files.filter((file) => !before.files.includes(file)) : [];
  return [
    ...children.map((pid) => `child process ${pid}`),
    ...(hasMoreFiles
      ? [`${now.files.length - before.files.length} more open files, among them: ${files.join(" ")}`]
      : []),
  ].join(", ");
}

/** The targets of all descriptors; those that close meanwhile are skipped. */
function openFiles(): string[] {
  try {
    return readdirSync("/proc/self/fd").flatMap((name) => {
      try {
        return [readlinkSync(`/proc/self/fd/${name}`)];
      } catch {
        return []; // The descriptor of the listing itself is closed by now.
      }
    });
  } catch {
    return []; // No /proc: not Linux.
  }
}
