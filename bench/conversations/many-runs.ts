import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import type { Script } from "../../packages/server/src/testing/scripted-model/script.ts";
import type { BenchResult } from "../bench-result.ts";
import { percentile } from "../journal/percentile.ts";
import { startServerProcess, type ServerProcess } from "../node/server-process.ts";

/** B9, P47: 200 conversations run at once against a scripted model over HTTP, each with a client that follows it. */
export async function run(): Promise<BenchResult[]> {
  const thread = new Worker(new URL("./model-thread.ts", import.meta.url), { workerData: script });
  try {
    const [modelUrl] = (await once(thread, "message")) as [string];
    await using server = await startServerProcess();
    const latencies: number[] = [];
    const followers: Follower[] = [];
    for (let number = 0; number < conversationCount; number += 1) {
      const id = await startConversation(server, modelUrl);
      followers.push(await follow(server, id, latencies));
    }
    await sleep(warmUpMs);
    latencies.length = 0;
    await server.watch();
    await sleep(measuredMs);
    const measured = [...latencies];
    const { longestStallMs } = await server.read();
    for (const follower of followers) follower.close();
    const living = followers.filter(({ eventCount }) => eventCount() > 0).length;
    if (living < conversationCount) throw new Error(`Only ${living} conversations ran.`);
    return [
      {
        id: "B9",
        name: `event to client, ${conversationCount} conversations running: p99`,
        value: percentile(measured, 0.99),
        unit: "ms",
        baseline: { name: "median", value: percentile(measured, 0.5) },
      },
      {
        id: "B9.stall",
        name: "the same: longest stall of the server's event loop",
        value: longestStallMs,
        unit: "ms",
      },
      {
        id: "B9.rate",
        name: "the same: events that clients got",
        value: measured.length / (measuredMs / 1000),
        unit: "events/s",
      },
    ];
  } finally {
    await thread.terminate();
  }
}

const conversationCount = 200;
const warmUpMs = 5_000;
const measuredMs = 20_000;
/** A model that takes its time, as models do, and a tool that does not. */
const script: Script = {
  turns: [{ tool_calls: [{ name: "grep", arguments: { pattern: "x" } }], delay_ms: 1_500 }],
  loop: true,
};

async function startConversation(server: ServerProcess, modelUrl: string): Promise<string> {
  const llm = { model: "openai/scripted", base_url: `${modelUrl}/v1`, api_key: "bench-key" };
  const reply = await fetch(`${server.url}/api/conversations`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-session-api-key": server.key },
    body: JSON.stringify({
      agent: { kind: "Agent", llm, tools: [{ name: "terminal" }, { name: "grep" }] },
      workspace: { kind: "LocalWorkspace", working_dir: server.workDir },
      initial_message: { role: "user", content: [{ type: "text", text: "Go." }], run: true },
      max_iterations: 500,
      stuck_detection: false,
    }),
  });
  if (reply.status !== 201) throw new Error(await reply.text());
  return ((await reply.json()) as { id: string }).id;
}

type Follower = { readonly eventCount: () => number; readonly close: () => void };

/** The time of an event is taken before it is stored, so the wait for the disk is in what is measured. */
async function follow({ url, key }: ServerProcess, id: string, latencies: number[]): Promise<Follower> {
  const address = `${url.replace("http", "ws")}/sockets/events/${id}?session_api_key=${key}`;
  const socket = new WebSocket(address);
  let eventCount = 0;
  socket.addEventListener("message", ({ data }: MessageEvent<string>) => {
    const arrivedAtMs = performance.timeOrigin + performance.now();
    const [, timestamp] = /"timestamp":"([^"]+)"/.exec(data) ?? [];
    if (timestamp === undefined) return;
    eventCount += 1;
    latencies.push(Math.max(0, arrivedAtMs - Date.parse(timestamp)));
  });
  await once(socket, "open");
  return { eventCount: () => eventCount, close: () => socket.close() };
}
