import { spawn } from "node:child_process";
import path from "node:path";

export type ExampleRun = {
  readonly code: number | null;
  /** Of stdout, with ids, times, ports and folders replaced. */
  readonly output: string;
  readonly stderr: string;
};

/** What an example exits with that needs something that is not here; the reason is on stderr. */
export const skippedCode = 77;

/** An example that takes longer hangs. */
const limitMs = 120_000;

/** Runs an installed example to its end; after two minutes it is killed with all that it started, and its code is null. */
export async function runExample(folder: string, name: string): Promise<ExampleRun> {
  const bin = path.join(folder, "node_modules", ".bin");
  const child = spawn(path.join(folder, name, "run.sh"), {
    cwd: folder,
    env: {
      ...process.env,
      PATH: [bin, path.dirname(process.execPath), process.env["PATH"]].join(path.delimiter),
    },
    stdio: ["ignore", "pipe", "pipe"],
    // A group of its own, which is ended as a whole.
    detached: true,
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const timer = setTimeout(() => process.kill(-child.pid!, "SIGKILL"), limitMs);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject).once("close", resolve);
  });
  clearTimeout(timer);
  return { code, output: withoutChance(stdout), stderr };
}

/** The same text for each run. */
export function withoutChance(text: string): string {
  return text
    .replaceAll(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, "<id>")
    .replaceAll(/\b\d{4}-\d\d-\d\dT[\d:.]+Z?/g, "<time>")
    .replaceAll(/\b127\.0\.0\.1:\d+/g, "127.0.0.1:<port>")
    .replaceAll(/\/tmp\/[\w.-]+/g, "<folder>");
}
