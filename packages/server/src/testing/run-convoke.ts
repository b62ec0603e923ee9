import { execFile } from "node:child_process";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { testedPrograms } from "./tested-programs.ts";

export type CommandOutcome = { readonly code: number; readonly stdout: string; readonly stderr: string };

/** Runs a `convoke` command to its end, without this process's environment; its exit code is not an error. */
export async function runConvoke(
  words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<CommandOutcome> {
  const env = { PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`, ...environment };
  try {
    const outcome = await execute(process.execPath, [testedPrograms().command, ...words], {
      env,
      timeout: longestMs,
    });
    return { code: 0, ...outcome };
  } catch (error) {
    const { code, stdout = "", stderr = "" } = error as Error & Partial<CommandOutcome>;
    if (typeof code !== "number") throw error;
    return { code, stdout, stderr };
  }
}

const execute = promisify(execFile);
const longestMs = 120_000;
