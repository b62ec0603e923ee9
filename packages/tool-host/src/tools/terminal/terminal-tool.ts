import type { Action, TerminalAction } from "@convoke/protocol";
import { access, mkdir, readdir, rm, stat, writeFile } from "node:fs/promises";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { ToolInputError, type Tool, type ToolContext, type ToolInstance } from "../../tool.ts";
import { annotate, defineTool } from "../define-tool.ts";
import { describeTerminal } from "./describe-terminal.ts";
import { unfinishedPrefix } from "./output-log.ts";
import { parseTerminalParams } from "./terminal-params.ts";

export type TerminalToolOptions = {
  /** A call without a timeout answers after so many seconds at the latest. */
  readonly longestSeconds?: number;
  /** So many characters a command may print in one call; then it is held until the next. */
  readonly mostCharacters?: number;
};

const shellPrefix = "shell-";

/** The bash terminal of a conversation. */
export const terminalTool: Tool = createTerminalTool();

/** The bash terminal with limits other than the usual ones. */
export function createTerminalTool(options: TerminalToolOptions = {}): Tool {
  const longestSeconds = options.longestSeconds ?? 600;
  const mostCharacters = options.mostCharacters ?? 64_000_000;
  return {
    name: "terminal",
    actionKind: "TerminalAction",
    isReadOnly: false,
    define: (context) => {
      const { quietSeconds } = parseTerminalParams(context.params, context.environment);
      const description = describeTerminal({ quietSeconds, longestSeconds });
      const hints = { readOnly: false, destructive: true, idempotent: false, openWorld: true };
      return defineTool("Terminal", "terminal", description, annotate("terminal", hints));
    },
    open: (context) => openTerminal(context, { longestSeconds, mostCharacters }),
  };
}

async function openTerminal(
  context: ToolContext,
  limits: Required<TerminalToolOptions>,
): Promise<ToolInstance> {
  const params = parseTerminalParams(context.params, context.environment);
  const folder = await stat(context.workspaceDir).catch(() => undefined);
  if (folder?.isDirectory() !== true)
    throw new ToolInputError(`The directory ${context.workspaceDir} does not exist.`);
  const outputDirectory = join(context.stateDir, "observations");
  const stateDir = join(context.stateDir, "terminal");
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
  const session = new TerminalSession({
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
      });
    },
    wasUsedBefore,
    program: params.program,
    outputDirectory,
    workspaceDir: context.workspaceDir,
    quietSeconds: params.quietSeconds,
    idleTimeoutSeconds: params.idleTimeoutSeconds,
    ...limits,
  });
  return {
    execute: (action: Action, call) => session.execute(action as TerminalAction, call),
    [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
  };
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
