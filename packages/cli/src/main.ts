import { ApiError, ConnectionError } from "@convoke/client";
import { ConfigError, version } from "@convoke/server";
import { Command, CommanderError } from "commander";
import { addDemo } from "./commands/demo.ts";
import { addDoctor } from "./commands/doctor.ts";
import { addKeys } from "./commands/keys.ts";
import { addRun } from "./commands/run.ts";
import { addScriptedModel } from "./commands/scripted-model.ts";
import { addServe } from "./commands/serve.ts";
import { CommandError, exitCodes } from "./exit-codes.ts";

const epilogue = `
Settings come from flags, then from the environment (CONVOKE_*, and SESSION_API_KEY, OH_SESSION_API_KEYS_0, ... for keys).
Exit codes: 0 done, 1 failed, 2 wrong usage, 3 agent stuck, 4 not approved, 5 paused, 130 interrupted.`;

/** Runs the command line; sets the exit code and never throws for a mistake of the caller. */
export async function main(argv: readonly string[]): Promise<void> {
  const program = new Command("convoke")
    .description("An agent conversation server: durable, searchable, live.")
    .version(version)
    .showHelpAfterError("(run with --help to see what is possible)")
    .addHelpText("after", epilogue)
    .exitOverride();
  for (const add of [addServe, addRun, addDemo, addDoctor, addKeys, addScriptedModel]) add(program);
  for (const command of program.commands) command.exitOverride();
  try {
    await program.parseAsync(argv);
  } catch (error) {
    process.exitCode = report(error);
  }
}

function report(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  if (error instanceof CommandError) {
    console.error(error.message);
    return error.exitCode;
  }
  if (error instanceof ConfigError) {
    console.error(error.message);
    return exitCodes.usage;
  }
  if (error instanceof ApiError) {
    console.error(`The server refused the request (${error.status}): ${error.message}`);
    return exitCodes.failed;
  }
  if (error instanceof ConnectionError) {
    console.error(`${error.message} Is convoke serve running there?`);
    return exitCodes.failed;
  }
  console.error(error instanceof Error ? (error.stack ?? error.message) : String(error));
  return exitCodes.failed;
}
