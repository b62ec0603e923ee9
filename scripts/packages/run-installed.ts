import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** Runs an installed command with nothing of this process's environment: no other Node is found. */
export async function runInstalled(program: string, home: string, ...words: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(program, words, {
    cwd: home,
    env: { PATH: "/usr/bin:/bin", HOME: home },
  });
  return stdout;
}
