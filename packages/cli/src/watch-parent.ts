import { readFileSync } from "node:fs";

const pollMs = 250;

/**
 * Calls `onGone` when the process that started this one has ended: npm, which ends the shell between us on a signal and not us, or
 * the launcher. Nothing is watched when a person, a service manager or a script started it, which may leave it behind on purpose.
 */
export function watchParent(launcherPid: string | undefined, onGone: () => void): void {
  const starters = findStarters(launcherPid);
  if (starters.length < 2) return;
  const timer = setInterval(() => {
    const isGone = starters.some((pid, index) => index > 0 && parentOf(starters[index - 1]!) !== pid);
    if (!isGone) return;
    clearInterval(timer);
    onGone();
  }, pollMs);
  timer.unref();
}

/** This process and those it ends with, each the parent of the one before. */
function findStarters(launcherPid: string | undefined): number[] {
  const starters = [process.pid];
  if (launcherPid === String(process.ppid)) starters.push(process.ppid);
  const shell = parentOf(starters.at(-1)!);
  const npm = shell === null ? null : parentOf(shell);
  if (shell === null || npm === null || !isForeground(commandOf(shell)) || !isNpm(commandOf(npm)))
    return starters;
  return [...starters, shell, npm];
}

/** `sh -c` of a script that starts nothing in the background. */
function isForeground([, flag, script = ""]: readonly string[]): boolean {
  return flag === "-c" && !/(?:^|[^&])&(?:[^&]|$)/.test(script);
}

/** It gives itself a title such as `npm start`; one that ends right now may be listed with its program. */
function isNpm([program = "", script = ""]: readonly string[]): boolean {
  return /^(?:npm|npx)\b/.test(program) || /\/(?:npm|npx)(?:-cli\.js)?$/.test(script);
}

function parentOf(pid: number): number | null {
  // The second field is a name in brackets, which may hold brackets and spaces itself.
  const fields = readProcessFile(pid, "stat").split(") ").at(-1)?.split(" ") ?? [];
  const parent = Number(fields[1]);
  return Number.isInteger(parent) && parent > 0 ? parent : null;
}

function commandOf(pid: number): string[] {
  return readProcessFile(pid, "cmdline").split("\0");
}

function readProcessFile(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "utf8");
  } catch {
    // Ended, or a system without /proc: then there is nothing to see.
    return "";
  }
}
