import { writeFileSync } from "node:fs";

/** From 0 to 1000; half of all memory is added to what the process uses when the kernel chooses. */
const score = "500";

/** When memory is used up, the kernel ends this process and what it starts from now on, and not the one that started it. */
export function makeExpendable(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, score);
  } catch {
    // Another system, a process that has ended, or one with a higher score: only root may lower it.
  }
}
