import { randomUUID } from "node:crypto";
import { access, mkdir, readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ToolInputError, type ToolContext } from "../../tool.ts";
import { unfinishedPrefix } from "./output-log.ts";
import { parseTerminalParams } from "./terminal-params.ts";
import type { TerminalRecord } from "./terminal-record.ts";
import type { TerminalSession } from "./terminal-session.ts";

export type TerminalLimits = {
  /** A call without a timeout answers after so many seconds at the latest. */
  readonly longestSeconds: number;
  /** So many characters a command may print in one call; then it is held until the next. */
  readonly maxCharacters: number;
};

export type OneTerminal = {
  /** Where its files are, below the private directory of the conversation. */
  readonly folder: string;
  readonly record: TerminalRecord;
  /** A command that nobody waits for goes on, and what it prints is dropped where nobody reads it. */
  readonly goesOn: boolean;
};

const shellPrefix = "shell-";

/** Opens one terminal of a conversation; its shell starts with the first command. */
export async function openTerminalSession(
  context: ToolContext,
  limits: TerminalLimits,
  { folder, record, goesOn }: OneTerminal,
): Promise<TerminalSession> {
  const params = parseTerminalParams(context.params, context.environment);
  const workspace = await stat(context.workspaceDir).catch(() => undefined);
  if (workspace?.isDirectory() !== true)
    throw new ToolInputError(`The directory ${context.workspaceDir} does not exist.`);
  const outputDirectory = join(context.stateDir, "observations");
  const stateDir = join(context.stateDir, folder);
  const usedFile = join(stateDir, "used");
  await removeLeftovers(stateDir, outputDirectory);
  const wasUsedBefore = await access(usedFile).then(
    () => true,
    () => false,
  );
  const marker = randomUUID();
  // Emulating a screen takes much to load: only who opens a terminal pays for it.
  const [{ Shell }, { TerminalSession }] = await Promise.all([
    import("./shell.ts"),
    import("./terminal-session.ts"),
  ]);
  const session: TerminalSession = new TerminalSession({
    openShell: async (signal) => {
      await mkdir(stateDir, { recursive: true, mode: 0o700 });
      await writeFile(usedFile, "", { mode: 0o600 });
      return Shell.open({
        program: params.program,
        workingDir: context.workspaceDir,
        environment: params.environment,
        marker,
        directory: join(stateDir, `${shellPrefix}${process.pid}-${randomUUID()}`),
        signal,
        onOutput: (text) => session.view.write(text),
      });
    },
    wasUsedBefore,
    record,
    goesOn,
    program: params.program,
    outputDirectory,
    workspaceDir: context.workspaceDir,
    quietSeconds: params.quietSeconds,
    idleTimeoutSeconds: params.idleTimeoutSeconds,
    ...limits,
  });
  return session;
}

/** Removes what processes that are gone left unfinished. */
async function removeLeftovers(stateDir: string, outputDirectory: string): Promise<void> {
  for (const [directory, prefix] of [
    [stateDir, shellPrefix],
    [outputDirectory, unfinishedPrefix],
  ] as const) {
    const names = await readdir(directory).catch(() => []);
    for (const name of names) {
      const owner = Number(new RegExp(`^${prefix.replace(".", "\\.")}(\\d+)-`).exec(name)?.[1]);
      if (owner > 0 && !isAlive(owner)) await rm(join(directory, name), { recursive: true, force: true });
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Not allowed to signal it means that it is there.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
