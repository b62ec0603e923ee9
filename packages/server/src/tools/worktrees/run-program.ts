import type { ToolHost } from "@convoke/tool-host";
import { describeError } from "../../lib/describe-error.ts";
import { orAfter } from "../../lib/or-after.ts";

export type ProgramEnd = { readonly ok: boolean; readonly output: string; readonly problem: string };

const maxOutputBytes = 64 * 1024;
/** How long output may still be on its way when the program has ended; what it left behind, which may hold the pipe, is ended sooner. */
const drainMs = 10_000;

/** Runs a program at a tool host and waits for its end; it is ended, with all it started, when it takes too long. */
export async function runProgram(
  host: Pick<ToolHost, "startProcess">,
  [command, ...args]: readonly [string, ...string[]],
  timeoutMs: number,
): Promise<ProgramEnd> {
  const environment = {
    LC_ALL: "C",
    GIT_TERMINAL_PROMPT: "0",
    GIT_NO_LAZY_FETCH: "1",
    // A read-only command takes no lock that could fail the git of an agent or a person.
    GIT_OPTIONAL_LOCKS: "0",
  };
  await using child = host.startProcess({ command, args, environment, workingDir: "/" });
  child.input.end();
  const chunks: Buffer[] = [];
  let size = 0;
  const output = (async (): Promise<"read"> => {
    for await (const chunk of child.output) {
      if (size < maxOutputBytes) chunks.push(chunk as Buffer);
      size += (chunk as Buffer).length;
    }
    return "read";
  })().catch((error: unknown) => describeError(error));
  try {
    const end = await orAfter(child.ended, timeoutMs, null);
    if (end === null) return { ok: false, output: "", problem: `It took longer than ${timeoutMs / 1000} s.` };
    // Half of an answer would be taken for all of it.
    const read = await orAfter(output, drainMs, "It did not come in time.");
    if (read !== "read") return { ok: false, output: "", problem: `Its output could not be read: ${read}` };
    const text = Buffer.concat(chunks).toString("utf8").replace(/\n$/, "");
    return { ok: end.exitCode === 0, output: text, problem: end.errorText.trim() };
  } catch (error) {
    // It could not be started, which is an answer here.
    return { ok: false, output: "", problem: describeError(error) };
  }
}
