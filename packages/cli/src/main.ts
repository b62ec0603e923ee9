import type { ApiError } from "@convoke/client";
import type { Command } from "commander";
import { apiCommands, commands } from "./command-table.ts";
import { type Explained, runCommandLine } from "./command-line.ts";
import { describeUnknownVariables } from "./configuration/unknown-variables.ts";
import { exitCodes, exitCodesHelp } from "./exit-codes.ts";
import { reachLoopback } from "./reach-loopback.ts";

const epilogue = `
Without a command: serve --open.
Settings come from flags, then from the environment, then from configuration
files: convoke config shows them.${exitCodesHelp}`;

/** Commands that begin something with the configuration: they say which variables mean nothing. */
const configuredCommands = ["serve", "run", "chat", "acp", "mcp", "doctor", "config"];

/** Runs the command line; sets the exit code and never throws for a mistake of the caller. */
export async function main(given: readonly string[], keepCompiled: () => void): Promise<void> {
  reachLoopback(process.env);
  const argv = given.length > 2 ? given : [...given, "serve", "--open"];
  if (configuredCommands.includes(argv[2] ?? "") && process.env["CONVOKE_PROCESS_SHARE"] === undefined)
    for (const line of describeUnknownVariables(process.env)) console.error(line);
  const named = Object.hasOwn(commands, argv[2] ?? "") ? commands[argv[2] ?? ""] : undefined;
  const isVersionAsked = argv.length === 3 && ["--version", "-V"].includes(argv[2] ?? "");
  const wanted = named === undefined ? (isVersionAsked ? [] : Object.values(commands)) : [named];
  const add = async (program: Command): Promise<void> => {
    program.addHelpText("after", epilogue);
    // Anything else is about all commands, or about the program: help, the version, a slip of the finger.
    if (named === undefined) program.version((await import("@convoke/server/version")).version);
    for (const load of wanted) (await load())(program, keepCompiled);
    for (const command of program.commands)
      if (Object.hasOwn(apiCommands, command.name())) command.helpGroup("Commands over the API:");
  };
  await runCommandLine({ argv, add, explain, hasJsonErrors: hasJsonErrors(argv) });
}

/** Of commands over the API. What works on the data folder says its errors in words. */
function hasJsonErrors(argv: readonly string[]): boolean {
  return argv.includes("--json") && ["run", ...Object.keys(apiCommands)].includes(argv[2] ?? "");
}

/** The end of the sentence that says what to do; empty where the error says it. */
function fixOf({ status, code, message }: ApiError): string {
  if (status === 401) return ". Set SESSION_API_KEY to a key of that server.";
  const isOfOurs = code !== null || !message.endsWith(`status ${status}.`);
  return status === 404 && !isOfOurs ? " Is there a Convoke server at this address?" : "";
}

async function explain(error: unknown): Promise<Explained | null> {
  const { ApiError, ConnectionError } = await import("@convoke/client");
  const { ConfigError } = await import("@convoke/server/config-error");
  if (error instanceof ConfigError) return { message: error.message, exitCode: exitCodes.usage };
  if (error instanceof ApiError) {
    const message = `The server refused the request (${error.status}): ${error.message}${fixOf(error)}`;
    return { message, exitCode: exitCodes.failed, code: error.code ?? `http_${error.status}` };
  }
  if (error instanceof ConnectionError) {
    return { message: `${error.message} Is convoke serve running there?`, exitCode: exitCodes.unreachable };
  }
  return null;
}
