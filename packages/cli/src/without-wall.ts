import { NoWallError } from "@convoke/server/no-wall";
import { askLine } from "./ask-approval.ts";
import { CommandError, exitCodes } from "./exit-codes.ts";

const meaning = "agents then run commands as your user, who can read your keys and other files";

/** Turns the refusal to start without a wall into the sentence that names the way out; `off` is the flag for it. */
export function explainNoWall(error: unknown, off: string): unknown {
  if (!(error instanceof NoWallError)) return error;
  return new CommandError(`${error.message} Or start with ${off}: ${meaning}.`, exitCodes.usage);
}

/** Asks at the terminal whether to run without a wall once. Without a terminal the answer is no. */
export async function mayRunWithoutWall(error: NoWallError, isJson: boolean): Promise<boolean> {
  const { stdin: input, stdout: output } = process;
  const { reason, fix } = error.why;
  const answer = await askLine(
    { input, output, isJson },
    `No wall works here: ${reason} ${fix}\nRun without one this time? Then ${meaning.replace("then ", "")}. [y/N] `,
  );
  return /^y(es)?$/iu.test(answer);
}
