import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConvokeClient } from "@convoke/client";
import { NoWallError } from "@convoke/server/no-wall";
import type { Event } from "@convoke/protocol";
import { startScriptedModel } from "@convoke/server/testing";
import type { Command } from "commander";
import { demoScript, demoTask, writeDemoProject } from "../demo-project.ts";
import { CommandError, exitCodes } from "../exit-codes.ts";
import { openNode, type Node } from "../open-node.ts";
import { describeWall } from "../print/describe-wall.ts";
import { createPaint } from "../print/paint.ts";
import { watchRun } from "../watch-run.ts";

export function addDemo(program: Command): void {
  program
    .command("demo")
    .description(
      "Watch an agent repair a failing test, without an API key: the model is scripted, everything else is real",
    )
    .option("--keep", "keep the demo's folder")
    .action(demo);
}

async function demo({ keep }: { readonly keep?: true }): Promise<void> {
  const paint = createPaint(process.stdout);
  const folder = await mkdtemp(join(tmpdir(), "convoke-demo-"));
  const say = (text: string): void => console.log(paint.bold(text));
  try {
    const workspace = join(folder, "project");
    await mkdir(workspace);
    await writeDemoProject(workspace);
    say("A small repository has a failing test. A server starts, and an agent is asked to repair it.\n");
    const { id, eventCount } = await repair(folder, workspace);
    say("\nThe server is stopped and started again. The conversation is still there:\n");
    await findAgain(folder, id, eventCount);
    say("\nThat was the full agent loop: model over HTTP, real terminal and files, durable events, search.");
    console.log("Next, with a model of your own:");
    console.log("  export LLM_MODEL=anthropic/claude-sonnet-4-5 LLM_API_KEY=...");
    console.log("  npx convoke chat    # in the terminal");
    console.log("  npx convoke         # in a browser");
  } finally {
    if (keep === true) console.log(`\nKept: ${folder}`);
    else await rm(folder, { recursive: true, force: true });
  }
}

async function repair(folder: string, workspace: string): Promise<{ id: string; eventCount: number }> {
  await using model = await startScriptedModel({ script: demoScript(workspace) });
  await using node = await openDemoNode(folder);
  const client = clientOf(node);
  const conversation = await client.startConversation({
    agent: {
      kind: "Agent",
      llm: { model: "openai/scripted", base_url: `${model.url}/v1`, api_key: "demo-key-of-no-value" },
      tools: [{ name: "terminal" }, { name: "file_editor" }],
    },
    workspace: { kind: "LocalWorkspace", working_dir: workspace },
    initial_message: { role: "user", content: [{ type: "text", text: demoTask }], run: true },
  });
  console.log(`${describeWall(conversation.wall, workspace)}\n`);
  await client.updateConversation(conversation.id, { title: "Repair the failing test" });
  const code = await watchRun({
    client,
    conversationId: conversation.id,
    isJson: false,
    output: process.stdout,
    input: process.stdin,
  });
  if (code !== exitCodes.ok)
    throw new CommandError("The demo's agent did not finish. Please report this.", code);
  return { id: conversation.id, eventCount: await client.countEvents(conversation.id) };
}

async function findAgain(folder: string, id: string, eventCount: number): Promise<void> {
  await using node = await openDemoNode(folder);
  const client = clientOf(node);
  const { items } = await client.searchConversations({ status: "finished" });
  const found = items.find((item) => item.id === id);
  const count = await client.countEvents(id);
  if (found === undefined || count !== eventCount) {
    throw new CommandError("The conversation has changed after the restart. Please report this.");
  }
  console.log(`  GET /api/conversations/search?status=finished  ->  "${found.title}", ${count} events`);
  const hits = await client.searchEvents(id, { body: "failing" });
  for (const event of hits.items)
    console.log(`  GET .../events/search?body=failing             ->  ${textOf(event)}`);
}

/** Its model is scripted and orders nothing else, so the demo also runs where no wall works. */
async function openDemoNode(folder: string): Promise<Node> {
  const settings = { host: "127.0.0.1", port: 0, dataDir: join(folder, "data"), database: "" };
  try {
    return await openNode(settings, "error");
  } catch (error) {
    if (!(error instanceof NoWallError)) throw error;
    return await openNode({ ...settings, wall: "off" }, "error");
  }
}

function clientOf({ server }: Node): ConvokeClient {
  return new ConvokeClient({
    baseUrl: server.url,
    ...(server.sessionKey === null ? {} : { apiKey: server.sessionKey.key }),
  });
}

function textOf(event: Event): string {
  if (event.kind !== "MessageEvent") return event.kind;
  const [part] = event.llm_message.content ?? [];
  return part !== undefined && "text" in part ? `"${part.text}"` : event.kind;
}
