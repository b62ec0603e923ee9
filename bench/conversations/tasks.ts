import { defaultTools } from "@convoke/tool-host";
import type { ScriptTurn } from "../../packages/server/src/testing/scripted-model/script.ts";
import { startTestServer, type TestServer } from "../../packages/server/src/testing/start-server.ts";
import type { BenchResult } from "../bench-result.ts";
import { percentile } from "../journal/percentile.ts";

const order = "Have it counted.";
const parts = ["one", "two", "three", "four"] as const;
const sampleCount = 5;
const modelDelayMs = 100;

/** Four sub-agents of one answer compared with one. Each calls the model twice and runs one command of 0.2 s. */
export async function run(): Promise<BenchResult[]> {
  await using one = await startTestServer({ script: script(1), tools: defaultTools() });
  await using four = await startTestServer({ script: script(4), tools: defaultTools() });
  const oneMs: number[] = [];
  const fourMs: number[] = [];
  // Alternating, so that the machine's noise affects both.
  for (let sample = 0; sample < sampleCount; sample += 1) {
    oneMs.push(await timeOf(one));
    fourMs.push(await timeOf(four));
  }
  const value = percentile(fourMs, 0.5);
  const baseline = percentile(oneMs, 0.5);
  return [
    {
      id: "tasks",
      name: "four sub-agents of one answer, from the message to the parent's end: median",
      value,
      unit: "ms",
      baseline: { name: "one sub-agent, the same run: median", value: baseline },
      ratio: value / baseline,
    },
  ];
}

async function timeOf(server: TestServer): Promise<number> {
  const { agent } = server.startRequest();
  const tools = [{ name: "terminal" }, { name: "task_tool_set" }];
  const startMs = performance.now();
  const { id } = await server.createConversation({ text: order, agent: { ...agent, tools } });
  await server.waitForStatus(id, "finished");
  return performance.now() - startMs;
}

function script(count: number): { turns: ScriptTurn[] } {
  const chosen = parts.slice(0, count);
  const parent = { match: { last_user_contains: order }, delay_ms: modelDelayMs };
  const task = (part: string) => ({ name: "task", arguments: { prompt: `Count part ${part}.` } });
  const round = [
    { ...parent, tool_calls: chosen.map(task) },
    { ...parent, tool_calls: [{ name: "finish", arguments: { message: "Counted." } }] },
    ...chosen.flatMap((part): ScriptTurn[] => {
      const child = { match: { last_user_contains: `Count part ${part}.` }, delay_ms: modelDelayMs };
      return [
        { ...child, tool_calls: [{ name: "terminal", arguments: { command: "sleep 0.2" } }] },
        { ...child, tool_calls: [{ name: "finish", arguments: { message: `Part ${part} has 7 files.` } }] },
      ];
    }),
  ];
  return { turns: Array.from({ length: sampleCount }, () => round).flat() };
}

if (import.meta.main) console.table(await run());
