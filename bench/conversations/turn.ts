import type { BenchResult } from "../bench-result.ts";
import { percentile } from "../journal/percentile.ts";
import { benchId, openBenchNode, type BenchNode } from "../node/open-bench-node.ts";
import { BareCommits } from "./bare-commits.ts";
import { fillLog } from "./fill-log.ts";
import { runTurns } from "./run-turns.ts";
import { TurnClock } from "./turn-clock.ts";

/** B8: the cost of a turn without the model and the tool; B5: the same in a log of 1,000 and of 1,000,000 events. */
export async function run(): Promise<BenchResult[]> {
  return [
    ...(await measureOverhead("terminal", 50)),
    ...(await measureOverhead("terminal", 2000)),
    ...(await measureOverhead("grep", 50)),
    ...(await compareLogs()),
  ];
}

const sampleCount = 600;

/** Each turn: answer parsed, gated and stored, tool called, its result stored, the next request built. */
async function measureOverhead(toolName: "terminal" | "grep", viewEvents: number): Promise<BenchResult[]> {
  const clock = new TurnClock(toolName);
  await using node = await openBenchNode({ model: clock });
  // A turn adds an action and an observation: short runs keep the view near its size.
  const turnsPerRun = Math.max(5, viewEvents / 40);
  const turnMs: number[] = [];
  const startMs: number[] = [];
  // Answer and result are stored; for a tool with effects, its start and its end are recorded too.
  const commitCount = toolName === "terminal" ? 4 : 2;
  using bare = new BareCommits();
  for (let number = 0; turnMs.length < sampleCount; number += 1) {
    const id = benchId(number);
    await node.create(id);
    await runTurns(node, clock, id, viewEvents / 2);
    for (let sample = 0; sample < 4; sample += 1) {
      const ran = await runTurns(node, clock, id, turnsPerRun);
      startMs.push(ran.startMs);
      turnMs.push(...ran.turnMs);
      for (let count = 0; count < ran.turnMs.length; count += 1) bare.sample(commitCount);
    }
  }
  const beside = (share: number) => {
    const value = percentile(bare.samplesMs, share);
    const baseline = { name: `${commitCount} durable commits of bare node:sqlite, the same run`, value };
    return { baseline, ratio: percentile(turnMs, share) / value };
  };
  const what = toolName === "terminal" ? "tool whose execution is recorded" : "read-only tool";
  const id = toolName === "terminal" ? `B8.view${viewEvents}` : `B8.read-only`;
  return [
    {
      id,
      name: `one turn, view of ${viewEvents} events, ${what}: p99`,
      value: percentile(turnMs, 0.99),
      unit: "ms",
      ...beside(0.99),
    },
    { id: `${id}.p50`, name: "the same: p50", value: percentile(turnMs, 0.5), unit: "ms", ...beside(0.5) },
    {
      id: `${id}.start`,
      name: `message sent until the model is asked, view of ${viewEvents} events: p50`,
      value: percentile(startMs, 0.5),
      unit: "ms",
    },
  ];
}

async function compareLogs(): Promise<BenchResult[]> {
  const clock = new TurnClock("terminal");
  await using node = await openBenchNode({ model: clock });
  const logs = [
    { id: benchId(1), size: 1000, turnMs: [] as number[], startMs: [] as number[] },
    { id: benchId(2), size: 1_000_000, turnMs: [] as number[], startMs: [] as number[] },
  ] as const;
  for (const { id, size } of logs) await prepare(node, clock, id, size);
  // Alternating, so that the machine's noise affects both.
  for (let sample = 0; sample < 30; sample += 1) {
    for (const log of logs) {
      const ran = await runTurns(node, clock, log.id, 10);
      log.turnMs.push(...ran.turnMs);
      log.startMs.push(ran.startMs);
    }
  }
  const [small, large] = logs;
  return (["turnMs", "startMs"] as const).map((what) => {
    const value = percentile(large[what], 0.5);
    const baseline = percentile(small[what], 0.5);
    const name = what === "turnMs" ? "one turn" : "message sent until the model is asked";
    return {
      id: what === "turnMs" ? "B5.turn" : "B5.start",
      name: `${name} in a log of 1,000,000 events, view of 100 to 700: median`,
      value,
      unit: "ms",
      baseline: { name: "in a log of 1,000 events, same view", value: baseline },
      ratio: value / baseline,
    };
  });
}

async function prepare(node: BenchNode, clock: TurnClock, id: string, size: number): Promise<void> {
  await node.create(id);
  await fillLog(node.journal, id, size);
  await runTurns(node, clock, id, 50);
}

if (import.meta.main) console.table(await run());
