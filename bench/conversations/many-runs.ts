import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import type { Script } from "../../packages/server/src/testing/scripted-model/script.ts";
import type { BenchResult } from "../bench-result.ts";
import { percentile } from "../journal/percentile.ts";
import type { ServerReading } from "../node/server-child.ts";
import { startServerProcess, type ServerProcess } from "../node/server-process.ts";

type Load = {
  readonly conversationCount: number;
  readonly measuredMs: number;
  /** Milliseconds that the model takes for an answer. */
  readonly modelMs: number;
};

/** The parts of every run of the benches, and parts that take too long for that. */
const usual: Load = { conversationCount: 200, measuredMs: 20_000, modelMs: 1_500 };
const long: Load = { conversationCount: 500, measuredMs: 600_000, modelMs: 5_000 };
const warmUpMs = 5_000;
/** A conversation without events for this many answers of the model does not run. */
const quietAnswers = 6;

/**
 * B9, P47: many conversations run at once against a scripted model over HTTP, each with a client that follows it. `many-runs:long` has
 * 500 of them for ten minutes, `many-runs:long:2` for two.
 */
export async function run(part?: string): Promise<BenchResult[]> {
  const [kind, minutes] = part?.split(":") ?? [];
  const { conversationCount, modelMs, ...load } = kind === "long" ? long : usual;
  const measuredMs = minutes === undefined ? load.measuredMs : Number(minutes) * 60_000;
  const id = kind === "long" ? "B9.long" : "B9";
  const thread = new Worker(new URL("./model-thread.ts", import.meta.url), { workerData: scriptOf(modelMs) });
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
    const reading = await server.read();
    const quietSinceMs = performance.now() - quietAnswers * modelMs;
    const living = followers.filter(({ lastEventMs }) => lastEventMs() > quietSinceMs).length;
    for (const follower of followers) follower.close();
    if (living < conversationCount) throw new Error(`Only ${living} conversations ran to the end.`);
    return [
      {
        id,
        name: `event to client, ${conversationCount} conversations running: p99`,
        value: percentile(measured, 0.99),
        unit: "ms",
        baseline: { name: "median", value: percentile(measured, 0.5) },
      },
      ...describe(id, reading, measuredMs),
      {
        id: `${id}.rate`,
        name: "the same: events that clients got",
        value: measured.length / (measuredMs / 1000),
        unit: "events/s",
      },
    ];
  } finally {
    await thread.terminate();
  }
}

function describe(id: string, reading: ServerReading, measuredMs: number): BenchResult[] {
  const { longestStallMs, stallP999Ms, busiestMs, longestPauseMs, pausedMs, allocatedMegabytes } = reading;
  const rows = [
    ["stall", "longest stall of the server's event loop", longestStallMs, "ms"],
    ["stall.p999", "stalls of its event loop, p99.9 of looks 10 ms apart", stallP999Ms, "ms"],
    ["stall.processor", "processor time of its thread between two looks, at most", busiestMs, "ms"],
    ["gc", "the longest collection of memory", longestPauseMs, "ms"],
    ["gc.share", "time in collections of memory", (pausedMs / measuredMs) * 100, "%"],
    ["allocated", "memory allocated, at least", allocatedMegabytes / (measuredMs / 1000), "MB/s"],
    ["resident", "resident memory, at most", reading.maxResidentMegabytes, "MB"],
  ] as const;
  return rows.map(([what, name, value, unit]) => ({
    id: `${id}.${what}`,
    name: `the same: ${name}`,
    value,
    unit,
  }));
}

/** A slow model, as models are, and a fast tool. */
function scriptOf(modelMs: number): Script {
  return {
    turns: [{ tool_calls: [{ name: "grep", arguments: { pattern: "x" } }], delay_ms: modelMs }],
    loop: true,
  };
}

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

type Follower = { readonly lastEventMs: () => number; readonly close: () => void };

/** The timestamp of an event is taken before it is stored, so the measurement contains the wait for the disk. */
async function follow({ url, key }: ServerProcess, id: string, latencies: number[]): Promise<Follower> {
  const address = `${url.replace("http", "ws")}/sockets/events/${id}?session_api_key=${key}`;
  const socket = new WebSocket(address);
  let lastEventMs = 0;
  socket.addEventListener("message", ({ data }: MessageEvent<string>) => {
    const arrivedAtMs = performance.timeOrigin + performance.now();
    const [, timestamp] = /"timestamp":"([^"]+)"/.exec(data) ?? [];
    if (timestamp === undefined) return;
    lastEventMs = performance.now();
    latencies.push(Math.max(0, arrivedAtMs - Date.parse(timestamp)));
  });
  await once(socket, "open");
  return { lastEventMs: () => lastEventMs, close: () => socket.close() };
}
