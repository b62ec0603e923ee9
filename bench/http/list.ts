import type { BenchResult } from "../bench-result.ts";
import { percentile } from "../journal/percentile.ts";
import { benchId, openBenchNode, type BenchNode } from "../node/open-bench-node.ts";
import { ask } from "./ask.ts";

/** B14: pages of 50 conversations out of 2,000, none of them loaded, each with a few events. */
export async function run(): Promise<BenchResult[]> {
  await using node = await openBenchNode();
  for (let number = 0; number < conversationCount; number += 1) await node.create(benchId(number));
  await Promise.all(Array.from({ length: conversationCount }, (_, number) => talk(node, benchId(number))));
  await node.directory.evictIdle(-1);
  const pages = await pagesOf(node);
  const [first, deep] = [pages.slice(0, 1), pages.slice(-2, -1)];
  await timesOf(node, pages);
  // Alternating, so that the machine's noise affects both.
  const firstMs: number[] = [];
  const deepMs: number[] = [];
  for (let sample = 0; sample < 8; sample += 1) {
    firstMs.push(...(await timesOf(node, first)));
    deepMs.push(...(await timesOf(node, deep)));
  }
  return [
    {
      id: "B14",
      name: "first page of 50 out of 2,000 conversations: p95 seen by the client",
      value: percentile(firstMs, 0.95),
      unit: "ms",
    },
    {
      id: "B14.deep",
      name: "a deep page: median",
      value: percentile(deepMs, 0.5),
      unit: "ms",
      baseline: { name: "the first page: median", value: percentile(firstMs, 0.5) },
      ratio: percentile(deepMs, 0.5) / percentile(firstMs, 0.5),
    },
  ];
}

const conversationCount = 2000;
const search = "/api/conversations/search?limit=50";

async function talk(node: BenchNode, id: string): Promise<void> {
  const conversation = await node.open(id);
  const content = [{ type: "text" as const, text: "Hello." }];
  for (let count = 0; count < 2; count += 1) {
    await conversation.send({ message: { role: "user", content, thinking_blocks: [] }, wantsRun: false });
  }
}

async function pagesOf(node: BenchNode): Promise<string[]> {
  const paths: string[] = [];
  for (let next: string | null = search; next !== null;) {
    paths.push(next);
    const reply: Response = await fetch(`http://127.0.0.1:${node.port}${next}`);
    const page = (await reply.json()) as { items: unknown[]; next_page_id: string | null };
    if (page.items.length !== 50) throw new Error(`A page has ${page.items.length} conversations.`);
    next = page.next_page_id === null ? null : `${search}&page_id=${page.next_page_id}`;
  }
  return paths;
}

async function timesOf(node: BenchNode, paths: readonly string[]): Promise<readonly number[]> {
  return (await ask({ port: node.port, paths, connections: 1, requests: 100 })).durationsMs;
}

if (import.meta.main) console.table(await run());
