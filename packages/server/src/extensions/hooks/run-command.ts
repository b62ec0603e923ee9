import type { ToolHost } from "@convoke/tool-host";
import type { HookEnd } from "./hook-answer.ts";
import { orAborted } from "../../lib/or-aborted.ts";
import { orAfter } from "../../lib/or-after.ts";

export type CommandOrder = {
  readonly command: string;
  readonly workingDir: string;
  /** Written to standard input, which ends then. */
  readonly input: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Its reason is {@link HookTooSlow} after the timeout. */
  readonly signal: AbortSignal;
};

/** A hook has exceeded its timeout. */
export class HookTooSlow extends Error {
  override readonly name = "HookTooSlow";

  constructor(seconds: number) {
    super(`It took longer than ${seconds} seconds and was ended.`);
  }
}

/** The message about a hook that `signal` has ended. */
export function whyEnded({ reason }: AbortSignal): string {
  return reason instanceof HookTooSlow ? reason.message : "It was ended before it came to an end.";
}

const maxOutputBytes = 50_000;
/**
 * How long output is read after the command has ended. Its child processes may hold the pipe open, and are ended
 * earlier where they can be found; on a busy machine a late answer may be a denial.
 */
const drainMs = 5_000;

/** Runs a shell command at the tool host with its allow-listed environment; ends it and all it started at the abort. */
export async function runCommand(
  host: Pick<ToolHost, "startProcess">,
  order: CommandOrder,
): Promise<HookEnd> {
  // After a stop no command starts (P43).
  if (order.signal.aborted) return { exitCode: -1, stdout: "", stderr: "", problem: whyEnded(order.signal) };
  await using child = host.startProcess({
    command: "/bin/sh",
    args: ["-c", order.command],
    environment: order.environment,
    workingDir: order.workingDir,
  });
  // A command need not read its input.
  child.input.on("error", () => {});
  child.input.end(order.input);
  const chunks: Buffer[] = [];
  let size = 0;
  const output = (async () => {
    for await (const chunk of child.output) {
      if (size < maxOutputBytes) chunks.push(chunk as Buffer);
      size += (chunk as Buffer).length;
    }
    // A broken pipe has delivered all its data.
  })().catch(() => {});
  const end = await orAborted(child.ended, order.signal).catch((error: unknown) => {
    if (order.signal.aborted) return null;
    throw error;
  });
  if (end !== null) await orAfter(output, drainMs, null);
  const stdout = Buffer.concat(chunks).subarray(0, maxOutputBytes).toString("utf8");
  if (end === null) return { exitCode: -1, stdout, stderr: "", problem: whyEnded(order.signal) };
  const problem = end.exitCode === null ? `It was ended by ${end.signal ?? "a signal"}.` : null;
  return { exitCode: end.exitCode ?? -1, stdout, stderr: end.errorText, problem };
}
