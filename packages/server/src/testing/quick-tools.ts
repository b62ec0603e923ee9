import type { GrepAction, GrepObservation, TerminalAction, TerminalObservation } from "@convoke/protocol";
import { defaultTools, ToolInputError, type Tool, type ToolCall, type ToolSet } from "@convoke/tool-host";

/** Tools with the names and wire forms of the real ones that start no process and record their calls. */
export type QuickTools = {
  readonly tools: readonly (Tool | ToolSet)[];
  /** Every command and pattern, in order of execution. */
  readonly started: readonly string[];
  /** Releases the tools that hold, now and later. */
  release(): void;
};

/**
 * `terminal` answers with its command; `hold` waits for {@link QuickTools.release} or the abort, `tell` says its command before
 * that, `stubborn` waits for the release alone, `fail` ends with exit code 1, `refuse` throws what the model may correct, `crash` throws as a bug does. `grep` is
 * read-only and finds its own pattern, after a `hold` as the terminal. `finish` and `think` are the real ones.
 */
export function createQuickTools(): QuickTools {
  const started: string[] = [];
  const released = Promise.withResolvers<void>();

  async function runCommand(action: TerminalAction, call: ToolCall): Promise<TerminalObservation> {
    const { command } = action;
    started.push(command);
    const [verb = ""] = command.split(" ");
    if (verb === "tell") call.onProgress(command);
    if (verb === "hold" || verb === "tell") await Promise.race([released.promise, aborted(call.signal)]);
    if (verb === "stubborn") await released.promise;
    if (verb === "refuse") throw new ToolInputError(`refused: ${command}`);
    if (verb === "crash") throw new Error(`crashed: ${command}`);
    const isError = verb === "fail";
    const content = [{ type: "text", text: command, cache_prompt: false }] as const;
    return {
      kind: "TerminalObservation",
      content: [...content],
      is_error: isError,
      command,
      exit_code: isError ? 1 : 0,
      timeout: false,
    };
  }

  async function findPattern({ pattern }: GrepAction, call: ToolCall): Promise<GrepObservation> {
    started.push(pattern);
    if (pattern.startsWith("hold")) await Promise.race([released.promise, aborted(call.signal)]);
    return {
      kind: "GrepObservation",
      content: [{ type: "text", text: pattern, cache_prompt: false }],
      is_error: false,
      matches: [pattern],
      pattern,
      search_path: ".",
      truncated: false,
    };
  }

  return {
    started,
    release: () => released.resolve(),
    tools: [
      quickTool("terminal", "Terminal", false, (action, call) => runCommand(action as TerminalAction, call)),
      quickTool("grep", "Grep", true, (action, call) => findPattern(action as GrepAction, call)),
      ...defaultTools().filter(({ name }) => name === "finish" || name === "think"),
    ],
  };
}

type Execute = Awaited<ReturnType<Tool["open"]>>["execute"];

function quickTool(name: string, stem: "Terminal" | "Grep", isReadOnly: boolean, execute: Execute): Tool {
  return {
    name,
    actionKind: `${stem}Action`,
    isReadOnly,
    define: () => ({
      kind: `${stem}Tool`,
      title: name,
      description: "Answers with what it was given.",
      action_type: `${stem}Action`,
      observation_type: `${stem}Observation`,
      annotations: {
        title: name,
        readOnlyHint: isReadOnly,
        destructiveHint: false,
        idempotentHint: isReadOnly,
        openWorldHint: false,
      },
      meta: null,
    }),
    open: async () => ({ execute, [Symbol.asyncDispose]: async () => {} }),
  };
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
}
