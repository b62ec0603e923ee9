import type { Command } from "commander";
import { type Explained, runCommandLine } from "./command-line.ts";
import { describeUnknownVariables } from "./configuration/unknown-variables.ts";
import { exitCodes } from "./exit-codes.ts";
import { reachLoopback } from "./reach-loopback.ts";

const epilogue = `
Without a command: serve --open.
Settings come from flags, then from the environment: CONVOKE_*, and for API keys
SESSION_API_KEY or OH_SESSION_API_KEYS_0, OH_SESSION_API_KEYS_1, ...
Exit codes: 0 done, 1 failed, 2 wrong usage, 3 agent stuck, 4 not approved,
5 paused, 7 no server answers, 130 interrupted.`;

/** The command that starts a server calls `keepCompiled` once it has started. */
type AddCommand = (program: Command, keepCompiled: () => void) => void;

/** Each command is loaded when it is wanted: one that needs no server starts without loading it. */
const commands: Readonly<Record<string, () => Promise<AddCommand>>> = {
  serve: async () => (await import("./commands/serve.ts")).addServe,
  open: async () => (await import("./commands/open.ts")).addOpen,
  run: async () => (await import("./commands/run.ts")).addRun,
  acp: async () => (await import("./commands/acp.ts")).addAcp,
  mcp: async () => (await import("./commands/mcp.ts")).addMcp,
  attach: async () => (await import("./commands/attach.ts")).addAttach,
  demo: async () => (await import("./commands/demo.ts")).addDemo,
  config: async () => (await import("./commands/config.ts")).addConfig,
  doctor: async () => (await import("./commands/doctor.ts")).addDoctor,
  backup: async () => (await import("./commands/backup.ts")).addBackup,
  store: async () => (await import("./commands/store.ts")).addStore,
  keys: async () => (await import("./commands/keys.ts")).addKeys,
  audit: async () => (await import("./commands/audit.ts")).addAudit,
  rules: async () => (await import("./commands/rules.ts")).addRules,
  inspect: async () => (await import("./commands/inspect.ts")).addInspect,
  replay: async () => (await import("./commands/replay.ts")).addReplay,
  "tool-host": async () => (await import("./commands/tool-host.ts")).addToolHost,
  "scripted-model": async () => (await import("./commands/scripted-model.ts")).addScriptedModel,
};

/** Commands that begin something with the configuration: they say which variables mean nothing. */
const configuredCommands = ["serve", "run", "chat", "acp", "mcp", "doctor", "config"];

/** Runs the command line; sets the exit code and never throws for a mistake of the caller. */
export async function main(given: readonly string[], keepCompiled: () => void): Promise<void> {
  reachLoopback(process.env);
  const argv = given.length > 2 ? given : [...given, "serve", "--open"];
  if (configuredCommands.includes(argv[2] ?? "") && process.env["CONVOKE_PROCESS_SHARE"] === undefined)
    for (const line of describeUnknownVariables(process.env)) console.error(line);
  const named = Object.hasOwn(commands, argv[2] ?? "") ? commands[argv[2] ?? ""] : undefined;
  const add = async (program: Command): Promise<void> => {
    program.addHelpText("after", epilogue);
    // Anything else is about all commands, or about the program: help, the version, a slip of the finger.
    if (named === undefined) program.version((await import("@convoke/server")).version);
    for (const load of named === undefined ? Object.values(commands) : [named]) {
      (await load())(program, keepCompiled);
    }
  };
  await runCommandLine({ argv, add, explain });
}

async function explain(error: unknown): Promise<Explained | null> {
  const { ApiError, ConnectionError } = await import("@convoke/client");
  const { ConfigError } = await import("@convoke/server");
  if (error instanceof ConfigError) return { message: error.message, exitCode: exitCodes.usage };
  if (error instanceof ApiError) {
    const message = `The server refused the request (${error.status}): ${error.message}`;
    return { message, exitCode: exitCodes.failed };
  }
  if (error instanceof ConnectionError) {
    return { message: `${error.message} Is convoke serve running there?`, exitCode: exitCodes.unreachable };
  }
  return null;
}
