import type { BenchResult } from "../bench-result.ts";
import { percentile } from "../journal/percentile.ts";
import { sampleId } from "../../packages/server/src/journal/sample-events.ts";
import { rareWord, seedLog } from "../journal/seed-log.ts";
import { benchId, openBenchNode, type BenchNode } from "../node/open-bench-node.ts";
import { ask } from "./ask.ts";
import { startMemoryServer } from "./memory-server.ts";

/** B6: pages of 100 events out of 1,000,000 through the whole server, compared with the same bytes served from memory. */
export async function run(): Promise<BenchResult[]> {
  await using node = await openBenchNode();
  await node.create(id);
  const { lease } = await seedLog(node.journal, id, logSize);
  await node.journal.release(lease);
  const results: BenchResult[] = [];
  for (const [name, paths] of Object.entries(await pagesOf(node))) {
    results.push(...(await measure(node, name, paths)));
  }
  return [...results, await measureFresh(node)];
}

const logSize = 1_000_000;
const id = benchId(1);
const search = `/api/conversations/${id}/events/search?limit=100`;
const roundCount = 3;
const freshPages = 1000;

/** Documented filters and both orders; `plain` walks through the log by its page ids. */
async function pagesOf(node: BenchNode): Promise<Record<string, string[]>> {
  const plain: string[] = [];
  let next: string | null = `${search}&sort_order=TIMESTAMP_DESC`;
  while (next !== null && plain.length < 50) {
    plain.push(next);
    const reply: Response = await fetch(`http://127.0.0.1:${node.port}${next}`);
    const { next_page_id: pageId } = (await reply.json()) as { next_page_id: string | null };
    next = pageId === null ? null : `${search}&sort_order=TIMESTAMP_DESC&page_id=${pageId}`;
  }
  const filters = [
    "kind=MessageEvent",
    "kind=ConversationErrorEvent",
    "source=agent",
    "source=user&kind=MessageEvent",
    `body=${rareWord}`,
    "body=looked%20at",
    "timestamp__gte=2026-02-02T02:40:05Z",
    "timestamp__lt=2026-02-02T02:40:05Z",
  ];
  const orders = ["TIMESTAMP", "TIMESTAMP_DESC"];
  return {
    plain,
    filtered: filters.flatMap((filter) => orders.map((order) => `${search}&${filter}&sort_order=${order}`)),
  };
}

async function measure(node: BenchNode, name: string, paths: readonly string[]): Promise<BenchResult[]> {
  const bodies = new Map<string, Buffer>();
  for (const path of paths) {
    const reply = await fetch(`http://127.0.0.1:${node.port}${path}`);
    if (!reply.ok) throw new Error(`${path}: ${reply.status} ${await reply.text()}`);
    bodies.set(path, Buffer.from(await reply.arrayBuffer()));
  }
  await using memory = await startMemoryServer(bodies);
  const speeds: { ours: number; memory: number }[] = [];
  // Alternating, so that the machine's noise affects both.
  for (let round = 0; round <= roundCount; round += 1) {
    const [ours, fromMemory] = [await speedOf(node.port, paths), await speedOf(memory.port, paths)];
    if (round > 0) speeds.push({ ours, memory: fromMemory });
  }
  const middle = middleOf(speeds);
  const one = await ask({ port: node.port, paths, connections: 1, requests: 2000 });
  const oneFromMemory = await ask({ port: memory.port, paths, connections: 1, requests: 2000 });
  const p99 = percentile(one.durationsMs, 0.99);
  const p99FromMemory = percentile(oneFromMemory.durationsMs, 0.99);
  const kilobytes = [...bodies.values()].reduce((sum, body) => sum + body.length, 0) / bodies.size / 1000;
  const what = `${name} pages of 100 at 1,000,000 events, ${Math.round(kilobytes)} kB each`;
  return [
    {
      id: `B6.http.${name}`,
      name: `${what}, 8 connections`,
      value: Math.round(middle.ours),
      unit: "pages/s",
      baseline: { name: "bare node:http, the same bytes from memory", value: Math.round(middle.memory) },
      ratio: middle.ours / middle.memory,
    },
    {
      id: `B6.http.${name}.p99`,
      name: `${what}, one client: p99 seen by the client`,
      value: p99,
      unit: "ms",
      baseline: { name: "bare node:http, the same bytes from memory", value: p99FromMemory },
      ratio: p99 / p99FromMemory,
    },
  ];
}

/** Pages at random places, none of which was requested before. */
async function measureFresh(node: BenchNode): Promise<BenchResult> {
  const bodies = new Map<string, Buffer>();
  await using memory = await startMemoryServer(bodies);
  const speeds: { ours: number; memory: number }[] = [];
  for (let round = 0; round <= roundCount; round += 1) {
    const paths = Array.from({ length: freshPages }, (_, page) => {
      const place = ((round * freshPages + page + 1) * 104_729) % (logSize - 100);
      return `${search}&sort_order=TIMESTAMP&page_id=${sampleId(1 + place)}`;
    });
    const ours = await speedOf(node.port, paths, freshPages);
    bodies.clear();
    for (const path of paths) {
      const reply = await fetch(`http://127.0.0.1:${node.port}${path}`);
      bodies.set(path, Buffer.from(await reply.arrayBuffer()));
    }
    const fromMemory = await speedOf(memory.port, paths, freshPages);
    if (round > 0) speeds.push({ ours, memory: fromMemory });
  }
  const middle = middleOf(speeds);
  return {
    id: "B6.http.fresh",
    name: `pages of 100 at random places, asked for once, 8 connections`,
    value: Math.round(middle.ours),
    unit: "pages/s",
    baseline: { name: "bare node:http, the same bytes from memory", value: Math.round(middle.memory) },
    ratio: middle.ours / middle.memory,
  };
}

function middleOf<Speeds extends { readonly ours: number; readonly memory: number }>(
  rounds: Speeds[],
): Speeds {
  const sorted = rounds.toSorted((left, right) => left.ours / left.memory - right.ours / right.memory);
  const middle = sorted[Math.floor(sorted.length / 2)];
  if (middle === undefined) throw new Error("No round was measured.");
  return middle;
}

async function speedOf(port: number, paths: readonly string[], requests = 3000): Promise<number> {
  return requests / (await ask({ port, paths, connections: 8, requests })).seconds;
}

if (import.meta.main) console.table(await run());
