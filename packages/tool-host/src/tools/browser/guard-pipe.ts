import type { ChildProcess } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { Readable } from "node:stream";

/** Chromium's own maximum message size; honest pages cause a fraction of it. */
const longestMessage = 100 * 1024 * 1024;

/** The file descriptor on which a browser answers. */
const answers = 4;

/**
 * Starts a browser by `launch`, and kills it when it sends a message that is too long. Pages decide the length of messages about them,
 * for example by writing to the console. A message longer than the maximum string length would end this whole process when
 * Playwright decodes it.
 */
export async function withGuardedPipe<T>(executablePath: string, launch: () => Promise<T>): Promise<T> {
  const started: ChildProcess[] = [];
  const onStart = (message: unknown): void =>
    void started.push((message as { process: ChildProcess }).process);
  subscribe("child_process", onStart);
  try {
    const browser = await launch();
    const pipes = started.filter((child) => child.spawnfile === executablePath).map(guard);
    if (!pipes.includes(true)) throw new Error("The pipe of the browser was not found.");
    return browser;
  } finally {
    unsubscribe("child_process", onStart);
  }
}

/** False when it is not a process with such a pipe. */
function guard(child: ChildProcess): boolean {
  const pipe = child.stdio[answers];
  if (!(pipe instanceof Readable)) return false;
  let length = 0;
  // Runs before the listener that assembles messages.
  pipe.prependListener("data", (bytes: Buffer) => {
    const end = bytes.lastIndexOf(0);
    length = end === -1 ? length + bytes.length : bytes.length - end - 1;
    if (length <= longestMessage) return;
    pipe.destroy();
    kill(child);
  });
  return true;
}

/** Kills its page processes too, which may be busy for long without noticing. The browser leads a process group. */
function kill(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  } catch {
    child.kill("SIGKILL"); // It leads no group, or has ended.
  }
}
