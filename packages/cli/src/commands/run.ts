import { resolve } from "node:path";
import { ApiError, type ConvokeClient } from "@convoke/client";
import type { ConfirmationPolicyInput, StartConversationRequest } from "@convoke/protocol";
import { read } from "@convoke/server/setting";
import { settings } from "@convoke/server/settings";
import { Option, type Command } from "commander";
import { CommandError, exitCodes } from "../exit-codes.ts";
import { openClient, type OpenedClient } from "../open-client.ts";
import { openOwnServer } from "../open-own-server.ts";
import { readSecrets } from "../read-secrets.ts";
import { wallRequest } from "../wall-request.ts";
import { watchPlan } from "../watch-plan.ts";
import { watchRun } from "../watch-run.ts";
import { describeLeftBehind } from "../print/describe-left-behind.ts";
import { describeWall } from "../print/describe-wall.ts";
import { parseCount, parseLogLevel, parseTask } from "./parse-options.ts";
import { withStore, type StoreOptions } from "./store-options.ts";
import { configuredEnvironment } from "../configuration/load-configuration.ts";

type Confirm = keyof typeof policies;

type RunOptions = StoreOptions & {
  readonly workspace: string;
  readonly model?: string;
  readonly baseUrl?: string;
  readonly confirm: Confirm;
  readonly plan?: true;
  readonly maxIterations?: number;
  readonly sandbox?: string;
  readonly network?: string;
  readonly hide?: readonly string[];
  readonly folder?: readonly string[];
  readonly unlock?: readonly string[];
  readonly secret: readonly string[];
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
    .option("--max-iterations <number>", "max model calls in this run", parseCount)
    .addOption(
      new Option(
        "--sandbox <kind>",
        "the wall around the agent's tools: auto, bubblewrap, or off to run them as your user",
      ).choices(["auto", "bubblewrap", "off"]),
    )
    .option(
      "--network <network>",
      "what the agent's commands reach: none, registries, all, or hosts with commas between (default registries; CONVOKE_NETWORK)",
    )
    .option("--hide <glob...>", "files of the workspace that show empty inside the wall, e.g. .env")
    .option("--folder <path...>", "more folders that show inside the wall, read-only; path:rw to write there")
    .option(
      "--unlock <name...>",
      "what the agent may change although an editor or shell obeys it, e.g. .vscode",
    )
    .option(
      "--secret <name@hosts>",
      "a secret that only these hosts get, e.g. GITHUB_TOKEN@github.com; its value is the variable's, or is asked for (repeatable)",
      (given: string, before: readonly string[]) => [...before, given],
      [],
    );
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
  const secrets = await readSecrets(options.secret, {
    environment: process.env,
    input: process.stdin,
    output: process.stderr,
  });
  const request = {
    ...startRequest(task, options),
    ...(Object.keys(secrets).length === 0 ? {} : { secrets }),
  };
  await using opened = await openServerOfRun(options);
  const { client } = opened;
  const { id, wall } = await client.startConversation(request);
  if (options.json !== true) {
    const wayOut = wall?.kind === "bubblewrap" ? " (--sandbox off: none)" : "";
    console.log(`${describeWall(wall, options.workspace)}${wayOut}`);
  }
  const watch = options.plan === true ? watchPlan : watchRun;
  process.exitCode = await watch({
    client,
    conversationId: id,
    isJson: options.json === true,
    output: process.stdout,
    input: process.stdin,
  });
  if (options.json !== true && wall?.kind === "bubblewrap") await printLeftBehind(client, id);
}

/** The run is over: what cannot be searched is said, and changes no exit code. */
async function printLeftBehind(client: ConvokeClient, id: string): Promise<void> {
  const params = { conversation_id: id };
  try {
    const found = await client.call("GET /api/conversations/{conversation_id}/left_behind", { params });
    const text = describeLeftBehind(found);
    if (text !== "") console.log(text);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    console.error(`What the agent left behind could not be searched: ${error.message}`);
  }
}

/** The wall, the network and the environment of a run are those of its shell, so a server that runs already is only used by name. */
function openServerOfRun(options: Run): Promise<OpenedClient> {
  return openClient(options, {
    environment: configuredEnvironment(),
    findsRunning: false,
    openOwn: async () => {
      const isJson = options.json === true;
      const own = await openOwnServer({ ...options, wall: options.sandbox, withoutWall: "ask", isJson });
      options.keepCompiled();
      return own;
    },
  });
}

function startRequest(task: string, options: RunOptions): StartConversationRequest {
  const environment = configuredEnvironment();
  const model = options.model ?? read(environment, settings.llm_model);
  if (!model) {
    throw new CommandError(
      "No model is set. Set LLM_MODEL (e.g. anthropic/claude-sonnet-4-5) and LLM_API_KEY, or use --model.",
      exitCodes.usage,
    );
  }
  const apiKey = read(environment, settings.llm_api_key);
  const baseUrl = options.baseUrl ?? read(environment, settings.llm_base_url);
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
    ...wallRequest(options),
    ...(options.maxIterations === undefined ? {} : { max_iterations: options.maxIterations }),
    initial_message: { role: "user", content: [{ type: "text", text: task }], run: true },
  };
}
