import { resolve } from "node:path";
import { ConvokeClient } from "@convoke/client";
import type { ConfirmationPolicyInput, StartConversationRequest } from "@convoke/protocol";
import type { Command } from "commander";
import { CommandError, exitCodes } from "../exit-codes.ts";
import { openNode } from "../open-node.ts";
import { watchPlan } from "../watch-plan.ts";
import { watchRun } from "../watch-run.ts";
import { parseCount, parseLogLevel, parseTask } from "./parse-options.ts";
import { storeOverrides, withStore, type StoreOptions } from "./store-options.ts";

type Confirm = keyof typeof policies;

type RunOptions = StoreOptions & {
  readonly workspace: string;
  readonly model?: string;
  readonly baseUrl?: string;
  readonly confirm: Confirm;
  readonly plan?: true;
  readonly maxIterations?: number;
  readonly server?: string;
  readonly json?: true;
  readonly logLevel: ReturnType<typeof parseLogLevel>;
};

/** With what the program gives to the command. */
type Run = RunOptions & { readonly keepCompiled: () => void };

const policies = {
  never: { kind: "NeverConfirm" },
  risky: { kind: "ConfirmRisky" },
  always: { kind: "AlwaysConfirm" },
} as const satisfies Record<string, ConfirmationPolicyInput>;

const notes = `
The model comes from LLM_MODEL (provider/model, e.g. openai/gpt-5 or
anthropic/claude-sonnet-4-5), its key from LLM_API_KEY, its base URL
from LLM_BASE_URL if it is not the provider's default. The conversation is
stored in the data folder; convoke serve shows it. With --confirm risky or
always you are asked before such an action runs; without a terminal to ask at,
the action is rejected and the command exits with code 4. With --plan the agent
changes nothing but its plan until you approve it. Ctrl-C interrupts the agent.`;

export function addRun(program: Command, keepCompiled: () => void): void {
  const command = program
    .command("run")
    .description("Run an agent on a task in this folder and follow it")
    .argument("<task>", "what to do, in plain words", parseTask)
    .option("--workspace <directory>", "where the agent works", ".")
    .option("--model <provider/model>", "overrides LLM_MODEL")
    .option("--base-url <url>", "overrides LLM_BASE_URL")
    .option(
      "--confirm <when>",
      "never, risky or always: when to ask before an action runs",
      parseConfirm,
      "never",
    )
    .option("--plan", "plan first; the agent carries the plan out after you approve it")
    .option("--max-iterations <number>", "max model calls in this run", parseCount);
  withStore(command, "where conversations are stored (default ~/.convoke)")
    .option(
      "--server <url>",
      "use this running server, with the key in SESSION_API_KEY, instead of starting one",
    )
    .option("--json", "print the events as JSON, one per line")
    .option(
      "--log-level <level>",
      "fatal, error, warn, info, debug or silent; logs go to stderr",
      parseLogLevel,
      "error",
    )
    .addHelpText("after", notes)
    .action(async (task: string, options: RunOptions) => run(task, { ...options, keepCompiled }));
}

function parseConfirm(text: string): Confirm {
  if (text in policies) return text as Confirm;
  throw new CommandError(`--confirm must be never, risky or always, not "${text}".`, exitCodes.usage);
}

async function run(task: string, options: Run): Promise<void> {
  await using scope = new AsyncDisposableStack();
  const request = startRequest(task, options);
  const target = await openTarget(options, scope);
  const client = new ConvokeClient(target);
  const { id } = await client.startConversation(request);
  const watch = options.plan === true ? watchPlan : watchRun;
  process.exitCode = await watch({
    client,
    conversationId: id,
    isJson: options.json === true,
    output: process.stdout,
    input: process.stdin,
  });
}

/** A server of our own for the time of the run, or the one that was named. */
async function openTarget(
  options: Run,
  scope: AsyncDisposableStack,
): Promise<{ readonly baseUrl: string; readonly apiKey?: string }> {
  const key = process.env["SESSION_API_KEY"];
  if (options.server !== undefined) return { baseUrl: options.server, ...(key ? { apiKey: key } : {}) };
  const node = scope.use(
    await openNode({ port: 0, host: "127.0.0.1", ...storeOverrides(options) }, options.logLevel, {
      hasSandboxes: false,
      isAttended: true,
    }),
  );
  options.keepCompiled();
  const { url, sessionKey } = node.server;
  return { baseUrl: url, ...(sessionKey === null ? {} : { apiKey: sessionKey.key }) };
}

function startRequest(task: string, options: RunOptions): StartConversationRequest {
  const model = options.model ?? process.env["LLM_MODEL"];
  if (!model) {
    throw new CommandError(
      "No model is set. Set LLM_MODEL (e.g. anthropic/claude-sonnet-4-5) and LLM_API_KEY, or use --model.",
      exitCodes.usage,
    );
  }
  const apiKey = process.env["LLM_API_KEY"];
  const baseUrl = options.baseUrl ?? process.env["LLM_BASE_URL"];
  return {
    agent: {
      kind: "Agent",
      llm: { model, ...(apiKey ? { api_key: apiKey } : {}), ...(baseUrl ? { base_url: baseUrl } : {}) },
      tools: ["terminal", "file_editor", "glob", "grep", "task_tracker"].map((name) => ({ name })),
      // Who begins a run in a folder expects its AGENTS.md to count.
      agent_context: { load_project_skills: true },
      ...(options.plan === true ? { system_prompt_filename: "system_prompt_planning.j2" } : {}),
    },
    workspace: { kind: "LocalWorkspace", working_dir: resolve(options.workspace) },
    confirmation_policy: policies[options.confirm],
    ...(options.confirm === "risky" ? { security_analyzer: { kind: "LLMSecurityAnalyzer" } } : {}),
    ...(options.maxIterations === undefined ? {} : { max_iterations: options.maxIterations }),
    initial_message: { role: "user", content: [{ type: "text", text: task }], run: true },
  };
}
