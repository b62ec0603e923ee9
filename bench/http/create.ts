import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { Script } from "../../packages/server/src/testing/scripted-model/script.ts";
import type { BenchResult } from "../bench-result.ts";
import { percentile } from "../journal/percentile.ts";
import { BuiltServer } from "../node/built-server.ts";
import { CreatingClient } from "./creating-client.ts";

/** B15: creating a conversation over HTTP with 10,000 stored; B16: its first turn, alone and with others, with a model without latency. */
export async function run(): Promise<BenchResult[]> {
  const thread = new Worker(new URL("../conversations/model-thread.ts", import.meta.url), {
    workerData: script,
  });
  try {
    const [modelUrl] = (await once(thread, "message")) as [string];
    await using server = await BuiltServer.start();
    using client = new CreatingClient(server, modelUrl);
    await client.fill(storedCount);
    for (const warmUp of [() => client.create("none"), () => client.turn()]) await times(50, warmUp);
    const create = await times(400, () => client.create("none"));
    const message = await times(400, () => client.create("stored"));
    const beforeMs = server.processorMs();
    const turn = await times(200, () => client.turn());
    const processorMs = (server.processorMs() - beforeMs) / turn.length;
    const few = await times(10, () => client.turnsAtOnce(fewCount));
    const many = await times(3, () => client.turnsAtOnce(manyCount));
    const result = (id: string, name: string, value: number): BenchResult => ({
      id,
      name,
      value,
      unit: "ms",
    });
    return [
      result("B15", "a conversation created over HTTP, 10,000 stored: p50", percentile(create, 0.5)),
      result("B15.p99", "the same: p99", percentile(create, 0.99)),
      result("B15.message", "created with a first message that starts no run: p50", percentile(message, 0.5)),
      result("B16", "created with a message, to the end of its first turn: p50", percentile(turn, 0.5)),
      result("B16.processor", "the same: processor time of the server for one", processorMs),
      result(
        "B16.20",
        `${fewCount} first turns at once, to the end of the last: median`,
        percentile(few, 0.5),
      ),
      result("B16.200", `${manyCount} first turns at once, the same`, percentile(many, 0.5)),
    ];
  } finally {
    await thread.terminate();
  }
}

const storedCount = 10_000;
const fewCount = 20;
const manyCount = 200;
const script: Script = { turns: [{ text: "Done." }], loop: true };

async function times(count: number, work: () => Promise<unknown>): Promise<readonly number[]> {
  const durationsMs: number[] = [];
  for (let at = 0; at < count; at += 1) {
    const startedAt = performance.now();
    await work();
    durationsMs.push(performance.now() - startedAt);
  }
  return durationsMs;
}

if (import.meta.main) console.table(await run());
