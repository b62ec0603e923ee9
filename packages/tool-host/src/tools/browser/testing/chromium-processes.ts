import { listProcesses, readProcess, readProgram, type ProcessEntry } from "../../../system/process-table.ts";

/** Browser processes below this process. Chromium overwrites its helpers' arguments, so markers do not find them. */
export function findChromium(root: number): ProcessEntry[] {
  const children = Map.groupBy(listProcesses(), ({ parentPid }) => parentPid);
  const found: ProcessEntry[] = [];
  const waiting = [root];
  for (let pid = waiting.pop(); pid !== undefined; pid = waiting.pop()) {
    for (const child of children.get(pid) ?? []) {
      waiting.push(child.pid);
      if (/chrom|msedge/.test(readProgram(child.pid) ?? "") && child.state !== "Z") found.push(child);
    }
  }
  return found;
}

/** Those that still run, whoever their parent is now. */
export function stillRunning(processes: readonly ProcessEntry[]): ProcessEntry[] {
  return processes.filter(({ pid, startTicks }) => {
    const now = readProcess(pid);
    return now !== undefined && now.startTicks === startTicks && now.state !== "Z";
  });
}
