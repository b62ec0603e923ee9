import { ApiError, type ConvokeClient } from "@convoke/client";
import { Option, type Command } from "commander";
import { openClient, type OpenedClient } from "../open-client.ts";
import { openOwnServer } from "../open-own-server.ts";
import { readSecrets } from "../read-secrets.ts";
import { watchPlan } from "../watch-plan.ts";
import { watchRun } from "../watch-run.ts";
import { chooseModel } from "../run/choose-model.ts";
import { giveAnswer } from "../run/give-answer.ts";
import { readTask, type Content } from "../run/read-task.ts";
import { parseConfirm, startRequest, toText, type StartOptions } from "../run/start-request.ts";
import { whileRunningModes } from "../run/while-running.ts";
import type { AnswerSchema } from "../run/structured-answer.ts";
import { describeLeftBehind } from "../print/describe-left-behind.ts";
import { describeWall } from "../print/describe-wall.ts";
import { parseCount, parseLogLevel } from "./parse-options.ts";
import { withStore, type StoreOptions } from "./store-options.ts";
import { configuredEnvironment } from "../configuration/load-configuration.ts";

type RunOptions = StoreOptions &
  StartOptions & {
    readonly secret: readonly string[];
    readonly file: readonly string[];
    readonly image: readonly string[];
    readonly outputLastMessage?: string;
    readonly outputSchema?: string;
    readonly quiet?: true;
    readonly server?: string;
    readonly json?: true;
    readonly logLevel: ReturnType<typeof parseLogLevel>;
  };

/** With what the program gives to the command. */
type Run = RunOptions & { readonly keepCompiled: () => void };

const notes = `
The model comes from LLM_MODEL (provider/model, e.g. openai/gpt-5 or
anthropic/claude-sonnet-4-5), its key from LLM_API_KEY, its base URL
from LLM_BASE_URL if it is not the provider's default. Without LLM_MODEL it is
the model that is stored on the page. The conversation is stored in the data
folder; convoke serve shows it. With --confirm risky or always you are asked
before such an action runs; without a terminal to ask at, the action is
rejected and the command exits with code 4. With --plan the agent changes
nothing but its plan until you approve it. Ctrl-C interrupts the agent.`;

export function addRun(program: Command, keepCompiled: () => void): void {
  const command = program
    .command("run")
    .description("Run an agent on a task in this folder and follow it")
    .argument("[task]", "what to do, in plain words; - or nothing reads it from standard input")
    .option("--file <file>", "a text file for the agent to read with the task (repeatable)", collect, [])
    .option("--image <file>", "a PNG, JPEG, GIF or WebP to look at (repeatable)", collect, [])
    .option("--workspace <directory>", "where the agent works", ".")
    .option("--model <provider/model>", "overrides LLM_MODEL")
    .option("--base-url <url>", "overrides LLM_BASE_URL")
    .option(
      "--confirm <when>",
      "never, risky or always: when to ask before an action runs",
      parseConfirm,
      "never",
    )
    .addOption(
      new Option(
        "--while-running <mode>",
        "what a message does while the agent works (default steer)",
      ).choices(whileRunningModes),
    )
    .option("--plan", "plan first; the agent carries the plan out after you approve it")
    .option("--max-iterations <number>", "max model calls in this run", parseCount)
    .addOption(
      new Option(
        "--sandbox <kind>",
        "the wall around the agent's tools: auto, bubblewrap, docker, or off to run them as your user",
      ).choices(["auto", "bubblewrap", "docker", "off"]),
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
      collect,
      [],
    );
  withStore(command, "where conversations are stored (default ~/.convoke)")
    .option(
      "--server <url>",
      "use this running server, with the key in SESSION_API_KEY, instead of starting one",
    )
    .option("--json", "print the events as JSON, one per line")
    .option("--quiet", "print the last answer alone")
    .option("--output-last-message <file>", "also write the last answer into a file")
    .option(
      "--output-schema <file>",
      "JSON schema of the last answer; it alone is printed, and exit code 6 says that it is not valid",
    )
    .option(
      "--log-level <level>",
      "fatal, error, warn, info, debug or silent; logs go to stderr",
      parseLogLevel,
      "error",
    )
    .addHelpText("after", notes)
    .action(async (task: string | undefined, options: RunOptions) => run(task, { ...options, keepCompiled }));
}

function collect(given: string, before: readonly string[]): readonly string[] {
  return [...before, given];
}

async function run(task: string | undefined, options: Run): Promise<void> {
  const { stdin: input, stdout: output, stderr } = process;
  const isJson = options.json === true;
  const isQuiet = options.quiet === true || options.outputSchema !== undefined;
  const schema = await readSchema(options.outputSchema);
  const content = await readTask({
    task,
    files: options.file,
    images: options.image,
    hasSecretsInInput: options.secret.length > 0,
    listFlag: listFlagOf(options),
    input,
  });
  const secrets = await readSecrets(options.secret, { environment: process.env, input, output: stderr });
  await using opened = await openServerOfRun(options);
  const { client } = opened;
  const llm = await chooseModel(client, options);
  const request = {
    ...startRequest(withInstruction(content, schema), options, llm),
    ...(schema?.forServer ? { response_schema: schema.forServer } : {}),
    ...(Object.keys(secrets).length === 0 ? {} : { secrets }),
  };
  const { id, wall, response_schema: known } = await client.startConversation(request);
  if (!isJson && !isQuiet) {
    const wayOut = wall !== undefined && wall.kind !== "none" ? " (--sandbox off: none)" : "";
    console.log(`${describeWall(wall, options.workspace)}${wayOut}`);
  }
  const watched = { client, conversationId: id, isJson, isQuiet, output, input };
  const watch = options.plan === true ? watchPlan : watchRun;
  const exitCode = await watch(watched);
  process.exitCode = await giveAnswer(exitCode, {
    ...watched,
    schema,
    isKnown: known !== undefined && known !== null,
    file: options.outputLastMessage,
  });
  if (!isJson && !isQuiet && wall !== undefined && wall.kind !== "none") await printLeftBehind(client, id);
}

/** The flag with more words than one, which may have taken the task. */
function listFlagOf({ hide, folder, unlock }: Run): string | null {
  const lists = { "--hide": hide, "--folder": folder, "--unlock": unlock };
  return Object.entries(lists).find(([, words = []]) => words.length > 1)?.[0] ?? null;
}

function withInstruction(content: Content, schema: AnswerSchema | null): Content {
  return schema === null || schema.forServer !== null ? content : [...content, toText(schema.instruction)];
}

async function readSchema(path: string | undefined): Promise<AnswerSchema | null> {
  if (path === undefined) return null;
  const { readAnswerSchema } = await import("../run/structured-answer.ts");
  return await readAnswerSchema(path);
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
