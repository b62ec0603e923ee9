import { openMemoryConversation } from "../../packages/server/src/testing/memory-conversation.ts";
import { createWindowedModel } from "../../packages/server/src/testing/windowed-model.ts";
import type { BenchResult } from "../bench-result.ts";
import { percentile } from "../journal/percentile.ts";

/** P59: our own cost of a late turn in a long run compared with an early one, without disk, model and tools. */
export async function run(): Promise<BenchResult[]> {
  // Unmeasured runs warm the code up; medians over several runs exclude the garbage collector.
  await measure(500);
  const early: number[] = [];
  const late: number[] = [];
  for (let sample = 0; sample < 8; sample += 1) {
    const turnMs = await measure(500);
    early.push(...turnMs.slice(10, 110));
    late.push(...turnMs.slice(400, 500));
  }
  const value = percentile(late, 0.5);
  const baseline = percentile(early, 0.5);
  return [
    {
      id: "P59.long-run",
      name: "one turn of 400 to 500 in a window of 32k tokens: median",
      value,
      unit: "ms",
      baseline: { name: "turns 10 to 110 of the same runs", value: baseline },
      ratio: value / baseline,
    },
  ];
}

/** Milliseconds from one request to the next. */
async function measure(turns: number): Promise<number[]> {
  const askedAtMs: number[] = [];
  const model = createWindowedModel({
    windowTokens: 32_000,
    turns,
    onRequest: () => askedAtMs.push(performance.now()),
  });
  await using opened = await openMemoryConversation({
    model,
    agent: { llm: { model: "windowed", max_input_tokens: 30_000 } },
    output: (command) => `${command}: ${"the quick brown fox jumps over the lazy dog ".repeat(40)}`,
  });
  await opened.run("Work.");
  return askedAtMs.slice(1).map((time, index) => time - askedAtMs[index]!);
}

if (import.meta.main) console.table(await run());
