import { readFile } from "node:fs/promises";
import { parseScript, startScriptedModel } from "@convoke/server/testing";
import type { Command } from "commander";
import { CommandError, exitCodes } from "../exit-codes.ts";
import { untilSignalled } from "../until-signalled.ts";
import { parsePort } from "./parse-options.ts";
import { printJson } from "../print/json.ts";

type ScriptedModelOptions = { readonly script: string; readonly port: number; readonly json?: true };

export function addScriptedModel(program: Command): void {
  program
    .command("scripted-model")
    .description("Serve a scripted model over the OpenAI chat and Anthropic APIs, for tests and demos")
    .requiredOption("--script <file>", "JSON file with the turns")
    .option("--port <number>", "port on 127.0.0.1, 0 for any free one", parsePort, 0)
    .option("--json", 'print one line {"url": ..., "pid": ...} when ready, and nothing else')
    .action(serveModel);
}

async function serveModel({ script, port, json }: ScriptedModelOptions): Promise<void> {
  await using model = await listening(startScriptedModel({ script: await readScript(script), port }), port);
  const stopped = untilSignalled();
  if (json === true) printJson("ready", { url: model.url, pid: process.pid });
  else {
    console.log(`The scripted model is listening on ${model.url}`);
    console.log(`  openai     LLM_MODEL=openai/scripted LLM_API_KEY=any LLM_BASE_URL=${model.url}/v1`);
    console.log(`  anthropic  LLM_MODEL=anthropic/scripted LLM_API_KEY=any LLM_BASE_URL=${model.url}`);
  }
  await stopped;
}

async function listening<Model>(starting: Promise<Model>, port: number): Promise<Model> {
  try {
    return await starting;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    throw new CommandError(`Port ${port} is in use. Choose another with --port.`, exitCodes.usage);
  }
}

async function readScript(file: string): Promise<ReturnType<typeof parseScript>> {
  try {
    return parseScript(await readFile(file, "utf8"));
  } catch (error) {
    throw new CommandError(
      `The script ${file} cannot be used: ${error instanceof Error ? error.message : String(error)}`,
      exitCodes.usage,
    );
  }
}
