import type { TerminalAction, TerminalObservation } from "@convoke/protocol";
import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { allowedEnvironment } from "../../../processes/allowed-environment.ts";
import type { ToolInstance, ToolSecret } from "../../../tool.ts";
import { createTerminalToolSet } from "../../terminals/terminal-tool-set.ts";
import { createTerminalTool, type TerminalToolOptions } from "../terminal-tool.ts";

export type RunOptions = Partial<Omit<TerminalAction, "kind" | "command">> & {
  readonly signal?: AbortSignal;
  readonly secrets?: readonly ToolSecret[];
  readonly onProgress?: (text: string) => void;
};

/** One answer of the terminal, with the parts that tests compare. */
export type Answer = TerminalObservation & {
  readonly text: string;
  readonly prefix: string;
  readonly suffix: string;
  readonly elapsedMs: number;
};

/** A terminal in its own directory, for tests. */
export interface TestTerminal extends AsyncDisposable {
  readonly workspaceDir: string;
  readonly stateDir: string;
  run(command: string, options?: RunOptions): Promise<Answer>;
  /** Types text, or a key such as `C-c`, into the running program. */
  type(text: string, options?: RunOptions): Promise<Answer>;
  /** Ends this terminal and opens another for the same conversation, as after a restart. */
  reopen(): Promise<void>;
}

export type TestTerminalOptions = TerminalToolOptions & {
  readonly params?: Readonly<Record<string, unknown>>;
  readonly environment?: Readonly<Record<string, string>>;
  /** A named terminal instead of the one of the tool `terminal`. */
  readonly name?: string;
};

/** Opens a terminal whose quiet time, unless set in `params`, is longer than any command of a test runs. */
export async function openTestTerminal(options: TestTerminalOptions = {}): Promise<TestTerminal> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "terminal-test-")));
  const workspaceDir = join(root, "workspace");
  const stateDir = join(root, "state");
  await mkdir(workspaceDir);
  await mkdir(stateDir);
  const { name } = options;
  // An interactive bash would read the user's start files, which may be slow.
  const environment = { ...allowedEnvironment(process.env), HOME: root, ...options.environment };
  const tool = name === undefined ? createTerminalTool(options) : createTerminalToolSet(options);
  const open = (): Promise<ToolInstance> =>
    tool.open({
      sessionId: "test",
      workspaceDir,
      stateDir,
      environment,
      params: { no_change_timeout_seconds: 20, ...options.params },
      canSee: false,
    });
  let terminal = await open();
  const run = async (
    command: string,
    { signal, secrets, onProgress, ...fields }: RunOptions = {},
  ): Promise<Answer> => {
    const startedAt = performance.now();
    const action: TerminalAction = {
      kind: "TerminalAction",
      command,
      is_input: false,
      timeout: null,
      reset: false,
      ...fields,
    };
    const { kind: _, timeout, ...data } = action;
    const named = { kind: "MCPToolAction" as const, data: { ...data, terminal: name } };
    if (timeout !== null) Object.assign(named.data, { timeout });
    const observation = (await terminal.execute(name === undefined ? action : named, {
      actionId: "action",
      tool: name === undefined ? tool.name : "terminal_run",
      signal: signal ?? new AbortController().signal,
      secrets: secrets ?? [],
      onProgress: onProgress ?? (() => {}),
    })) as TerminalObservation;
    const part = observation.content?.[0];
    return {
      ...observation,
      text: part !== undefined && "text" in part ? part.text : "",
      prefix: observation.metadata?.prefix ?? "",
      suffix: observation.metadata?.suffix ?? "",
      elapsedMs: performance.now() - startedAt,
    };
  };
  return {
    workspaceDir,
    stateDir,
    run,
    type: (text, runOptions) => run(text, { ...runOptions, is_input: true }),
    reopen: async () => {
      await terminal[Symbol.asyncDispose]();
      terminal = await open();
    },
    [Symbol.asyncDispose]: async () => {
      await terminal[Symbol.asyncDispose]();
      await rm(root, { recursive: true, force: true });
    },
  };
}
