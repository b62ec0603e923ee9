import { Command, CommanderError } from "commander";
import { CommandError, exitCodes } from "./exit-codes.ts";

/** The text of an error that its reader can act on. */
export type Explained = { readonly message: string; readonly exitCode: number };

export type CommandLine = {
  readonly argv: readonly string[];
  /** Adds the commands that there are. */
  readonly add: (program: Command) => Promise<void>;
  /** Null for an error of which nothing is known but its stack. */
  readonly explain: (error: unknown) => Promise<Explained | null>;
};

/** Runs one of the commands; sets the exit code and never throws for a mistake of the caller. */
export async function runCommandLine({ argv, add, explain }: CommandLine): Promise<void> {
  // Who reads may have seen enough (`| head`), or the terminal was closed. What then still runs is ended by its command.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE" && error.code !== "EIO") throw error;
    });
  }
  const program = new Command("convoke")
    .description("An agent conversation server: durable, searchable, live.")
    .showHelpAfterError("(run with --help for usage)")
    .exitOverride();
  await add(program);
  for (const command of program.commands) command.exitOverride();
  try {
    await program.parseAsync(argv);
  } catch (error) {
    process.exitCode = await report(error, explain);
  }
}

async function report(error: unknown, explain: CommandLine["explain"]): Promise<number> {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  if (error instanceof CommandError) {
    console.error(error.message);
    return error.exitCode;
  }
  const { describeStorageFault } = await import("@convoke/server/storage-fault");
  const explained = (await explain(error)) ?? toFailure(describeStorageFault(error));
  console.error(
    explained?.message ?? (error instanceof Error ? (error.stack ?? error.message) : String(error)),
  );
  return explained?.exitCode ?? exitCodes.failed;
}

function toFailure(message: string | null): Explained | null {
  return message === null ? null : { message, exitCode: exitCodes.failed };
}
