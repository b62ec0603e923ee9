import { mkdir, mkdtempDisposable, readdir, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import type { StartConversationRequest } from "@convoke/protocol";
import { startScriptedModel } from "../scripted-model/scripted-model-server.ts";
import { ServerProcess } from "../server-process.ts";

/**
 * `npx node nightly/soak.ts --minutes 30`: one server, four concurrent users who create conversations, follow them, let the agent run
 * commands and edit files, search, and delete them again. Samples memory, handles, threads and processes in pauses; exits with 1 when
 * one of them grows from the second quarter to the last.
 */
const { values } = parseArgs({ options: { minutes: { type: "string", default: "30" } } });
const durationMs = Number(values.minutes) * 60_000;
const users = 4;
const samples = 24;
/** Idle time after each round, so that leaks become visible. */
const pauseMs = Math.min(5_000, durationMs / samples / 3);

type Sample = {
  readonly heapMb: number;
  readonly residentMb: number;
  readonly handles: number;
  readonly threads: number;
  readonly processes: number;
};

await using folder = await mkdtempDisposable(join(tmpdir(), "convoke-soak-"));
const workspace = join(folder.path, "work");
await mkdir(workspace);
const command = (text: string) => ({ name: "terminal", arguments: { command: text } });
await using model = await startScriptedModel({
  vars: { workspace },
  script: {
    turns: [
      { tool_calls: [command("seq 1 500"), command("echo again > again.txt")] },
      {
        tool_calls: [
          {
            name: "file_editor",
            arguments: { command: "view", path: "{{workspace}}" },
          },
        ],
      },
      { text: "Done." },
    ],
    loop: true,
  },
});
await using server = await ServerProcess.start({
  dataDir: join(folder.path, "data"),
  conversationIdleSeconds: 2,
});
const { client } = server;
const startMs = performance.now();
let conversations = 0;
let followed = 0;

async function playOne(): Promise<void> {
  const id = crypto.randomUUID();
  await client.startConversation(startRequest(id));
  const stopping = new AbortController();
  const following = (async () => {
    for await (const item of client.follow(id, { afterEventId: null, signal: stopping.signal }))
      if (item.type === "event") followed += 1;
  })();
  try {
    for (const deadlineMs = performance.now() + 60_000; ;) {
      const { execution_status: status } = await client.getConversation(id);
      if (status === "finished" || (status === "idle" && (await hasAnswer(id)))) break;
      if (status === "error" || performance.now() > deadlineMs) throw new Error(`${id} is ${status}`);
      await sleep(25);
    }
    await call("GET", `/api/conversations/${id}/events/search?body=done&limit=10`);
  } finally {
    stopping.abort();
    await following;
    await call("DELETE", `/api/conversations/${id}`);
  }
  conversations += 1;
}

async function hasAnswer(id: string): Promise<boolean> {
  const reply = await call(
    "GET",
    `/api/conversations/${id}/events/search?kind=MessageEvent&source=agent&limit=1`,
  );
  return ((await reply.json()) as { items: unknown[] }).items.length > 0;
}

async function call(method: string, path: string): Promise<Response> {
  const reply = await fetch(`${server.url}${path}`, { method, headers: { "X-Session-API-Key": server.key } });
  if (!reply.ok && reply.status !== 404)
    throw new Error(`${method} ${path}: ${reply.status} ${await reply.text()}`);
  return reply;
}

function startRequest(id: string): StartConversationRequest {
  return {
    conversation_id: id,
    agent: {
      kind: "Agent",
      llm: { model: "openai/scripted", base_url: `${model.url}/v1`, api_key: "llm-key", num_retries: 0 },
      tools: [{ name: "terminal" }, { name: "file_editor" }],
    },
    workspace: { kind: "LocalWorkspace", working_dir: workspace },
    initial_message: { content: [{ type: "text", text: "Work." }], run: true },
  };
}

/** What the server holds once its conversations are unloaded. */
async function measure(): Promise<Sample> {
  await sleep(pauseMs);
  const memory = await server.memory();
  const proc = `/proc/${server.pid}`;
  return {
    heapMb: memory.heapUsed / 2 ** 20,
    residentMb: memory.rss / 2 ** 20,
    handles: (await readdir(`${proc}/fd`)).length,
    threads: (await readdir(`${proc}/task`)).length,
    processes: await countDescendants(server.pid),
  };
}

async function countDescendants(pid: number): Promise<number> {
  const parents = new Map<number, number>();
  for (const entry of await readdir("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    const stat = await readFile(`/proc/${entry}/stat`, "utf8").catch(() => ""); // It has ended meanwhile.
    const parent = Number(/\) \S (\d+)/.exec(stat)?.[1] ?? 0);
    parents.set(Number(entry), parent);
  }
  const isBelow = (one: number): boolean => {
    const parent = parents.get(one);
    return parent !== undefined && parent !== 0 && (parent === pid || isBelow(parent));
  };
  return [...parents.keys()].filter(isBelow).length;
}

const measured: Sample[] = [];
const faults: string[] = [];
for (let round = 0; round < samples; round++) {
  const untilMs = startMs + (durationMs * (round + 1)) / samples - pauseMs;
  const worker = async (): Promise<void> => {
    while (performance.now() < untilMs && faults.length < 10) {
      await playOne().catch((error: unknown) => faults.push(String(error)));
    }
  };
  await Promise.all(Array.from({ length: users }, worker));
  const sample = await measure();
  measured.push(sample);
  const shown = Object.entries(sample).map(([name, value]) => `${name} ${value.toFixed(0)}`);
  console.log(
    `${((performance.now() - startMs) / 60_000).toFixed(1)} min, ${conversations} conversations: ${shown.join(", ")}`,
  );
}

if (conversations === 0) faults.push("no conversation came to its end");
const quarter = samples / 4;
const medianOf = (name: keyof Sample, from: number): number =>
  measured
    .slice(from, from + quarter)
    .map((sample) => sample[name])
    .sort((a, b) => a - b)[Math.floor(quarter / 2)]!;
/** Allowed growth from the second to the last quarter: the variance of a measurement. */
const slack: Sample = { heapMb: 3, residentMb: 25, handles: 3, threads: 1, processes: 0 };
for (const name of Object.keys(slack) as (keyof Sample)[]) {
  const [early, late] = [medianOf(name, quarter), medianOf(name, 3 * quarter)];
  if (late > early + slack[name]) faults.push(`${name} grew from ${early.toFixed(1)} to ${late.toFixed(1)}`);
}
for (const fault of faults) console.log(fault);
console.log(
  `${values.minutes} minutes, ${conversations} conversations, ${followed} events followed: ${faults.length} faults`,
);
process.exitCode = faults.length === 0 ? 0 : 1;
