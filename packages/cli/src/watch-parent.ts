import { readCommandLine, readProcess, systemTable } from "@convoke/tool-host/system";

/** Without /proc each poll starts a program. */
const pollMs = { proc: 250, ps: 5_000 };

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
  }, pollMs[systemTable.kind]);
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
  return readProcess(pid)?.parentPid || null;
}

function commandOf(pid: number): string[] {
  return (readCommandLine(pid) ?? "").split("\0");
}
