import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { Script } from "../../packages/server/src/testing/scripted-model/script.ts";
import type { BenchResult } from "../bench-result.ts";
import { percentile } from "../journal/percentile.ts";
import { BuiltServer } from "../node/built-server.ts";

/**
 * B12.turn: what a client waits for. A conversation is created with a message, the model calls a tool, and the time ends with the
 * observation. Two servers take turns, one with walls and one without; the model answers at once, and after half a second.
 */
export async function measureFirstTurns(): Promise<BenchResult[]> {
  const models = await Promise.all([startModel(0), startModel(answerMs)]);
  try {
    await using walled = await BuiltServer.start({ wall: "auto" });
    await using open = await BuiltServer.start({ wall: "off" });
    const [atOnce, later] = [await measure(walled, open, models[0]), await measure(walled, open, models[1])];
    const toResult = (id: string, name: string, { wall, none }: Times): BenchResult => ({
      id,
      name,
      value: percentile(wall, 0.5) - percentile(none, 0.5),
      unit: "ms",
      baseline: { name: "the same without walls", value: percentile(none, 0.5) },
    });
    return [
      toResult(
        "B12.turn",
        `created with a message to its first observation, model ${answerMs} ms: more with a wall`,
        later,
      ),
      toResult("B12.turn.at-once", "the same, the model answers at once", atOnce),
      {
        id: "B12.turn.created",
        name: "the answer to its creation, with a wall: median",
        value: percentile(atOnce.created, 0.5),
        unit: "ms",
      },
      {
        ...toResult("B12.turn.call", "the second call of the turn: more with a wall", {
          wall: atOnce.secondWall,
          none: atOnce.secondNone,
        }),
      },
    ];
  } finally {
    await Promise.all(models.map(({ thread }) => thread.terminate()));
  }
}

const roundCount = 15;
/** As long as fast models take to their first call. */
const answerMs = 500;

type Times = { readonly wall: readonly number[]; readonly none: readonly number[] };
type Model = { readonly url: string; readonly thread: Worker };

async function startModel(delayMs: number): Promise<Model> {
  const grep = { name: "grep", arguments: { pattern: "nothing" } };
  const script: Script = {
    turns: [{ delay_ms: delayMs, tool_calls: [grep] }, { tool_calls: [grep] }, { text: "Done." }],
    loop: true,
    unique_ids: true,
  };
  const thread = new Worker(new URL("../conversations/model-thread.ts", import.meta.url), {
    workerData: script,
  });
  const [url] = (await once(thread, "message")) as [string];
  return { url, thread };
}

async function measure(walled: BuiltServer, open: BuiltServer, model: Model) {
  const times = { wall: [] as number[], none: [] as number[], created: [] as number[] };
  const second = { secondWall: [] as number[], secondNone: [] as number[] };
  for (let round = 0; round <= roundCount; round += 1) {
    const wall = await turn(walled, model.url);
    const none = await turn(open, model.url);
    // The first round makes what the walls of a server share.
    if (round === 0) continue;
    times.wall.push(wall.first);
    times.none.push(none.first);
    times.created.push(wall.created);
    second.secondWall.push(wall.second);
    second.secondNone.push(none.second);
  }
  return { ...times, ...second };
}

/** Milliseconds to the answer, to the first observation, and from there to the second one. */
async function turn(server: BuiltServer, modelUrl: string) {
  const startedAt = performance.now();
  const reply = await fetch(new URL("/api/conversations", server.url), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      agent: {
        kind: "Agent",
        llm: { model: "openai/scripted", base_url: `${modelUrl}/v1`, api_key: "bench-key" },
        tools: [{ name: "grep" }],
      },
      workspace: { kind: "LocalWorkspace", working_dir: server.workDir },
      initial_message: { role: "user", content: [{ type: "text", text: "Go." }], run: true },
    }),
  });
  if (reply.status !== 201) throw new Error(await reply.text());
  const { id } = (await reply.json()) as { id: string };
  const created = performance.now() - startedAt;
  const observedAt: number[] = [];
  const socket = new WebSocket(`${server.url.replace("http", "ws")}/sockets/events/${id}?resend_all=true`);
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener("message", ({ data }: MessageEvent<string>) => {
      if (data.includes('"kind":"ObservationEvent"')) observedAt.push(performance.now());
      if (/"kind":"(?:AgentErrorEvent|ConversationErrorEvent)"/.test(data)) reject(new Error(data));
      if (/"(?:execution_status|value)":"finished"/.test(data)) resolve();
    });
  });
  socket.close();
  const [first = NaN, next = NaN] = observedAt;
  const removed = await fetch(new URL(`/api/conversations/${id}`, server.url), { method: "DELETE" });
  if (!removed.ok) throw new Error(await removed.text());
  return { created, first: first - startedAt, second: next - first };
}
