import type { BenchResult } from "../bench-result.ts";
import { percentile } from "../journal/percentile.ts";
import { benchId, openBenchNode, type BenchNode } from "../node/open-bench-node.ts";

const rounds = 400;
const warmUpRounds = 50;

/** A message over HTTP to the server that owns the conversation, alternating with another server. */
export async function measureForwarding(url: string): Promise<BenchResult[]> {
  await using owner = await openBenchNode({ databaseUrl: url });
  await using other = await openBenchNode({ databaseUrl: url });
  const id = benchId(1);
  await owner.create(id);
  const samples = { local: [] as number[], forwarded: [] as number[] };
  for (let round = 0; round < rounds; round += 1) {
    for (const [way, node] of [
      ["local", owner],
      ["forwarded", other],
    ] as const) {
      const startedAt = performance.now();
      await send(node, id, `${way} ${round}`);
      if (round >= warmUpRounds) samples[way].push(performance.now() - startedAt);
    }
  }
  const value = percentile(samples.forwarded, 0.5);
  const local = percentile(samples.local, 0.5);
  return [
    {
      id: "cluster.forward",
      name: "a message that is forwarded, p50",
      value,
      unit: "ms",
      baseline: { name: "one to the server that works on the conversation", value: local },
      ratio: value / local,
    },
  ];
}

async function send(node: BenchNode, id: string, text: string): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${node.port}/api/conversations/${id}/events`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ role: "user", content: [{ type: "text", text }], run: false }),
  });
  await answer.text();
  if (!answer.ok) throw new Error(`The server answered ${answer.status}.`);
}
