import { posix } from "node:path";
import type { TerminalAction } from "@convoke/protocol";
import { type ToolSecret, type ToolSession, WorkspaceError, type Workspace } from "@convoke/tool-host";
import { orAborted } from "../lib/or-aborted.ts";
import { cloneCommand, emptyRepositoryCommand, hookCommand, scriptCommand } from "./repository-commands.ts";
import type { SandboxHost } from "./sandbox-service.ts";
import type { StartOrder } from "./start-order.ts";
import type { StartTask } from "./start-task-store.ts";

export type PrepareDeps = {
  readonly task: StartTask;
  readonly order: StartOrder;
  readonly host: SandboxHost;
  /** Exported to the commands that name them, masked in what they print. */
  readonly secrets: readonly ToolSecret[];
  /** Called before each step. */
  readonly steps: { to(status: StartTask["status"]): Promise<void> };
  readonly signal: AbortSignal;
  /** True once the server stops: then work in the sandbox continues, for the next server. */
  readonly closing: AbortSignal;
};

export type Prepared = {
  /** Absolute, as tools in the sandbox see it. */
  readonly workingDir: string;
  /** What went wrong without being in the way. */
  readonly remarks: readonly string[];
};

/** The start cannot continue; the message is for its user. */
export class PreparationError extends Error {
  override readonly name = "PreparationError";
}

const cloneSeconds = 600;
const scriptSeconds = 600;
const briefSeconds = 60;
const printedCharacters = 1_000;

/**
 * Brings the workspace into the state that the agent begins with. Each command has an id of its own and is run by the tool host
 * once: after a restart of the server its outcome is there, or it is still running.
 */
export async function prepareWorkspace(deps: PrepareDeps): Promise<Prepared> {
  const { order, host, steps } = deps;
  const { workspace } = host.toolHost;
  const base = posix.join(host.workspaceDir, "project", order.subfolder ?? "");
  const { repository } = order;
  const workingDir = repository === null ? base : posix.join(base, posix.basename(repository.name));
  await workspace.createDirectory(base);
  await using commands = new Commands(deps, base);
  await steps.to("PREPARING_REPOSITORY");
  if (repository === null) await commands.run("init", emptyRepositoryCommand(base), briefSeconds);
  else {
    const ended = await commands.run(
      "clone",
      cloneCommand(repository, workingDir, deps.task.conversationId),
      cloneSeconds,
    );
    if (!ended.isGood) {
      throw new PreparationError(`The repository ${repository.name} could not be prepared: ${ended.printed}`);
    }
  }
  const remarks: string[] = [];
  await steps.to("RUNNING_SETUP_SCRIPT");
  if (await isFile(workspace, posix.join(workingDir, ".openhands/setup.sh"))) {
    const ended = await commands.run("setup", scriptCommand(workingDir), scriptSeconds);
    if (!ended.isGood) remarks.push(`The setup script failed: ${ended.printed}`);
  }
  await steps.to("SETTING_UP_GIT_HOOKS");
  if (await isFile(workspace, posix.join(workingDir, ".openhands/pre-commit.sh"))) {
    const ended = await commands.run("hooks", hookCommand(workingDir), briefSeconds);
    if (!ended.isGood) remarks.push(`The git hook could not be installed: ${ended.printed}`);
  }
  await steps.to("SETTING_UP_SKILLS");
  return { workingDir, remarks };
}

type Ended = { readonly isGood: boolean; readonly printed: string };

/** A terminal of the start's own; opened at the first command. */
class Commands implements AsyncDisposable {
  readonly #deps: PrepareDeps;
  readonly #workspaceDir: string;
  #session: ToolSession | null = null;

  constructor(deps: PrepareDeps, workspaceDir: string) {
    this.#deps = deps;
    this.#workspaceDir = workspaceDir;
  }

  async run(name: string, command: string, timeoutSeconds: number): Promise<Ended> {
    const ended = await this.#run(name, command, timeoutSeconds);
    if (ended !== null) return ended;
    // The tool host ended with it half done; the commands can be repeated.
    const again = await this.#run(`${name}-${this.#deps.task.attempts}`, command, timeoutSeconds);
    return again ?? { isGood: false, printed: "The sandbox stopped while the command ran." };
  }

  /** Null when its outcome is lost. */
  async #run(name: string, command: string, timeoutSeconds: number): Promise<Ended | null> {
    const { task, host, secrets, signal } = this.#deps;
    const sessionId = `${task.id}-start`;
    this.#session ??= await host.toolHost.openSession({
      sessionId,
      workspaceDir: this.#workspaceDir,
      stateDir: posix.join(host.stateDir, sessionId),
      tools: [{ name: "terminal", params: { no_change_timeout_seconds: timeoutSeconds } }],
    });
    const action: TerminalAction = {
      kind: "TerminalAction",
      command,
      is_input: false,
      timeout: timeoutSeconds,
      reset: false,
    };
    const request = { actionId: `${task.id}-${name}`, tool: "terminal", action, secrets };
    const outcome = await orAborted(this.#session.execute(request), signal);
    if (outcome.type !== "observation") return null;
    const { observation } = outcome;
    const text = (observation.content ?? []).map((part) => ("text" in part ? part.text : "")).join("");
    const exitCode = observation.kind === "TerminalObservation" ? (observation.exit_code ?? -1) : -1;
    const printed = text.trim().slice(-printedCharacters);
    if (exitCode === -1) {
      return { isGood: false, printed: `It did not end in ${timeoutSeconds} seconds. ${printed}` };
    }
    return { isGood: exitCode === 0, printed: `${printed} (exit code ${exitCode})` };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#deps.closing.aborted) await this.#session?.[Symbol.asyncDispose]();
  }
}

async function isFile(workspace: Workspace, path: string): Promise<boolean> {
  try {
    return (await workspace.stat(path)).type === "file";
  } catch (error) {
    // Missing or not readable: then there is no script.
    if (error instanceof WorkspaceError) return false;
    throw error;
  }
}
