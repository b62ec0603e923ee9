import type { ChildProcess } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { Readable } from "node:stream";

/** As much as Chromium itself takes in one message; the largest that an honest page makes is a fraction of it. */
const longestMessage = 100 * 1024 * 1024;

/** The descriptor on which a browser answers. */
const answers = 4;

/**
 * Starts a browser by `launch`, and ends it when it sends a message that is too long. A page decides how long the messages about it are,
 * by what it writes to its console for example, and one that is longer than a text can be would end this whole process where Playwright
 * makes a text of it.
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

/** False where it is no process with such a pipe. */
function guard(child: ChildProcess): boolean {
  const pipe = child.stdio[answers];
  if (!(pipe instanceof Readable)) return false;
  let length = 0;
  // Before whoever puts the messages together.
  pipe.prependListener("data", (bytes: Buffer) => {
    const end = bytes.lastIndexOf(0);
    length = end === -1 ? length + bytes.length : bytes.length - end - 1;
    if (length <= longestMessage) return;
    pipe.destroy();
    kill(child);
  });
  return true;
}

/** With the processes of its pages, which can be busy for long without noticing that it is gone. It leads a group of its own. */
function kill(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  } catch {
    child.kill("SIGKILL"); // It leads none, or has ended.
  }
}
