import { randomUUID } from "node:crypto";
import { access, mkdir, readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ToolInputError, type ToolContext } from "../../tool.ts";
import { unfinishedPrefix } from "./output-log.ts";
import { parseTerminalParams } from "./terminal-params.ts";
import type { TerminalRecord } from "./terminal-record.ts";
import type { TerminalSession } from "./terminal-session.ts";

export type TerminalLimits = {
  /** Timeout in seconds of a call without an explicit one. */
  readonly longestSeconds: number;
  /** Maximum characters that a command may print during one call; then it is paused until the next call. */
  readonly maxCharacters: number;
};

export type OneTerminal = {
  /** Directory for its files, relative to the conversation's private directory. */
  readonly folder: string;
  readonly record: TerminalRecord;
  /** Commands continue while no call waits for them; unread output is dropped. */
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
  // The screen emulation is slow to load, so it is loaded on first use.
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

/** Removes unfinished files of processes that are gone. */
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
    // No permission to signal it means that it exists.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
