import type { ToolHost } from "@convoke/tool-host";
import { wait } from "../../lib/wait.ts";
import type { HookEnd } from "./hook-answer.ts";

export type CommandOrder = {
  readonly command: string;
  readonly workingDir: string;
  readonly timeoutMs: number;
  /** Written to standard input, which ends then. */
  readonly input: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
};

const endedBeforeItsEnd = "It was ended before it came to an end.";
const mostOutputBytes = 50_000;
/** How long output is still read after the command itself has ended: what it left behind may hold the pipe open. */
const drainMs = 500;

/** Runs a shell command at the tool host with its allow-listed environment; ends it and all it started in time. */
export async function runCommand(
  host: Pick<ToolHost, "startProcess">,
  order: CommandOrder,
): Promise<HookEnd> {
  // After a stop nothing begins (P43).
  if (order.signal.aborted) return { exitCode: -1, stdout: "", stderr: "", problem: endedBeforeItsEnd };
  await using child = host.startProcess({
    command: "/bin/sh",
    args: ["-c", order.command],
    environment: order.environment,
    workingDir: order.workingDir,
  });
  // A command that does not read its input is no failure.
  child.input.on("error", () => {});
  child.input.end(order.input);
  const chunks: Buffer[] = [];
  let size = 0;
  const output = (async () => {
    for await (const chunk of child.output) {
      if (size < mostOutputBytes) chunks.push(chunk as Buffer);
      size += (chunk as Buffer).length;
    }
    // A pipe that breaks has given what it had.
  })().catch(() => {});
  const stop = new AbortController();
  try {
    const limit = AbortSignal.any([order.signal, stop.signal]);
    const late = wait(order.timeoutMs, limit).then(() => null);
    const end = await Promise.race([child.ended, late]);
    if (end !== null) await Promise.race([output, wait(drainMs, stop.signal)]);
    const stdout = Buffer.concat(chunks).subarray(0, mostOutputBytes).toString("utf8");
    if (end === null) {
      const problem = order.signal.aborted
        ? endedBeforeItsEnd
        : `It took longer than ${order.timeoutMs / 1000} seconds and was ended.`;
      return { exitCode: -1, stdout, stderr: "", problem };
    }
    const problem = end.exitCode === null ? `It was ended by ${end.signal ?? "a signal"}.` : null;
    return { exitCode: end.exitCode ?? -1, stdout, stderr: end.errorText, problem };
  } finally {
    stop.abort();
  }
}
