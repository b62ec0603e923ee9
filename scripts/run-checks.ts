import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";

export type Check = {
  readonly name: string;
  /** Arguments for Node, run in the repository's root. */
  readonly nodeArguments: readonly string[];
};

export type CheckResult = {
  readonly name: string;
  readonly isOk: boolean;
  readonly durationMs: number;
  /** Standard output and error, interleaved as they came. */
  readonly output: string;
};

/** Runs the checks, as many at a time as there are processors. `onResult` is called as each one ends. Never rejects for a failing check. */
export async function runChecks(
  checks: readonly Check[],
  options: {
    readonly directory: string;
    readonly environment: Readonly<Record<string, string | undefined>>;
    readonly onResult: (result: CheckResult) => void;
  },
): Promise<CheckResult[]> {
  const waiting = [...checks];
  const results: CheckResult[] = [];
  const work = async (): Promise<void> => {
    for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) {
      const result = await runCheck(check, options.directory, options.environment);
      results.push(result);
      options.onResult(result);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  return results;
}

function runCheck(
  { name, nodeArguments }: Check,
  directory: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<CheckResult> {
  const startedAtMs = performance.now();
  const { promise, resolve } = Promise.withResolvers<CheckResult>();
  const chunks: Buffer[] = [];
  const settle = (isOk: boolean, reason: string): void => {
    const output = Buffer.concat(chunks).toString() + reason;
    resolve({ name, isOk, durationMs: performance.now() - startedAtMs, output });
  };
  const child = spawn(process.execPath, nodeArguments, {
    cwd: directory,
    env: environment,
    stdio: ["ignore", "pipe", "pipe"],
  });
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => chunks.push(chunk));
  child.once("error", (error) => settle(false, `cannot start: ${error.message}\n`));
  child.once("close", (code, signal) => {
    settle(code === 0, signal === null ? "" : `ended by ${signal}\n`);
  });
  return promise;
}
