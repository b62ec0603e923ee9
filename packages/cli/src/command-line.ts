import { Command, CommanderError } from "commander";
import { CommandError, exitCodes } from "./exit-codes.ts";

/** The text of an error that its reader can act on. */
export type Explained = {
  readonly message: string;
  readonly exitCode: number;
  /** A stable code of the server, or none. */
  readonly code?: string | null;
};

export type CommandLine = {
  readonly argv: readonly string[];
  /** Adds the commands that there are. */
  readonly add: (program: Command) => Promise<void>;
  /** Null for an error of which nothing is known but its stack. */
  readonly explain: (error: unknown) => Promise<Explained | null>;
  /** True: errors are one object of JSON on stderr. */
  readonly hasJsonErrors?: boolean;
};

/** Runs one of the commands; sets the exit code and never throws for a mistake of the caller. */
export async function runCommandLine({
  argv,
  add,
  explain,
  hasJsonErrors = false,
}: CommandLine): Promise<void> {
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
  if (hasJsonErrors) program.configureOutput({ writeErr: () => {} });
  await add(program);
  for (const command of program.commands) command.exitOverride();
  try {
    refuseUnknown(program, argv);
    await program.parseAsync(argv);
  } catch (error) {
    const { message, exitCode, code } = await describe(error, explain);
    process.exitCode = exitCode;
    if (hasJsonErrors && exitCode !== exitCodes.ok)
      console.error(JSON.stringify({ error: { code: code ?? codeOf(exitCode), message } }));
    else if (!(error instanceof CommanderError)) console.error(message);
  }
}

/** What people write who come from other programs. */
const otherNames: Readonly<Record<string, string>> = {
  list: "ls",
  history: "ls",
  delete: "rm",
  remove: "rm",
  start: "serve",
  server: "serve",
  up: "serve",
  web: "open",
  login: "open",
  cat: "show",
  view: "show",
  exec: "run",
  new: "chat",
  tui: "chat",
  message: "send",
  cron: "schedule",
  version: "--version",
};

/** A name of another program, and a command that help does not know: commander has no words for them. */
function refuseUnknown(program: Command, argv: readonly string[]): void {
  const [, , first = "", second] = argv;
  const given = first === "help" ? second : first;
  if (given === undefined || given.startsWith("-") || given === "help") return;
  const known = program.commands.some(
    (command) => command.name() === given || command.aliases().includes(given),
  );
  const other = Object.hasOwn(otherNames, given) ? otherNames[given] : undefined;
  if (known || (first !== "help" && other === undefined)) return;
  const instead = other === undefined ? "" : `\n(Did you mean ${other}?)`;
  program.error(`error: unknown command '${given}'${instead}`, { exitCode: exitCodes.usage });
}

async function describe(error: unknown, explain: CommandLine["explain"]): Promise<Explained> {
  if (error instanceof CommanderError) {
    // It has printed its message.
    const message = error.message.replace(/^error: /, "");
    return { message, exitCode: error.exitCode === 0 ? exitCodes.ok : exitCodes.usage };
  }
  if (error instanceof CommandError) return error;
  const { describeStorageFault } = await import("@convoke/server/storage-fault");
  const explained = (await explain(error)) ?? toFailure(describeStorageFault(error));
  if (explained !== null) return explained;
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { message, exitCode: exitCodes.failed };
}

function codeOf(exitCode: number): string {
  if (exitCode === exitCodes.usage) return "usage";
  return exitCode === exitCodes.unreachable ? "unreachable" : "failed";
}

function toFailure(message: string | null): Explained | null {
  return message === null ? null : { message, exitCode: exitCodes.failed };
}
