import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import type { BenchResult } from "../bench-result.ts";
import { DatabaseTime } from "./database-time.ts";
import type { WriterReport, WriterTask } from "./writer-child.ts";

const eventCount = 30_000;
const warmUpEvents = 6_000;
const conversationCount = 60;

type Measured = { readonly rate: number; readonly nodeMicros: number; readonly micros: number };

/**
 * Throughput of processes on one database, and the processor time per event of them and the database: the same conversations divided
 * among one, two and three processes, and the same number for each, like a node that is added for more load.
 */
export async function measureNodes(url: string): Promise<BenchResult[]> {
  await using time = await DatabaseTime.open(url);
  const alone = await measure(url, time, 1, conversationCount);
  const results = toResults("cluster.nodes1", "1 node", alone, alone);
  for (const count of [2, 3]) {
    const divided = await measure(url, time, count, conversationCount / count);
    results.push(...toResults(`cluster.nodes${count}`, `${count} nodes that share them`, divided, alone));
    const each = await measure(url, time, count, conversationCount);
    results.push(...toResults(`cluster.nodes${count}.each`, `${count} nodes with as many each`, each, alone));
  }
  return results;
}

async function measure(
  url: string,
  time: DatabaseTime,
  count: number,
  conversations: number,
): Promise<Measured> {
  const writers = Array.from({ length: count }, () => fork(new URL("./writer-child.ts", import.meta.url)));
  const endings = writers.map((writer) => once(writer, "exit"));
  await nextMessages(writers);
  const perConversation = Math.round(eventCount / conversations / count);
  const warmUp = Math.round(warmUpEvents / conversations);
  for (const [index, writer] of writers.entries()) {
    const prefix = `${count}-${conversations}-${index}`;
    const task: WriterTask = { url, prefix, conversations, perConversation, warmUp };
    writer.send(task);
  }
  await nextMessages(writers);
  const databaseBefore = await time.read();
  const reports = nextMessages(writers);
  for (const writer of writers) writer.send("go");
  const done = (await reports) as WriterReport[];
  const databaseMicros = (await time.read()) - databaseBefore;
  await Promise.all(endings);
  const stored = perConversation * conversations * count;
  const startMs = Math.min(...done.map((report) => report.startMs));
  const seconds = (Math.max(...done.map(({ endMs }) => endMs)) - startMs) / 1000;
  const nodeMicros = done.reduce((sum, { cpuMicros }) => sum + cpuMicros, 0);
  return {
    rate: stored / seconds,
    nodeMicros: nodeMicros / stored,
    micros: (nodeMicros + databaseMicros) / stored,
  };
}

/** The next message of each. */
async function nextMessages(writers: readonly ChildProcess[]): Promise<unknown[]> {
  return await Promise.all(writers.map(async (writer) => ((await once(writer, "message")) as unknown[])[0]));
}

function toResults(id: string, who: string, measured: Measured, alone: Measured): BenchResult[] {
  const { rate, nodeMicros, micros } = measured;
  return [
    {
      id,
      name: `durable appends of 1 KB, ${conversationCount} conversations, ${who}`,
      value: Math.round(rate),
      unit: "events/s",
      baseline: { name: "by one node", value: Math.round(alone.rate) },
      ratio: rate / alone.rate,
    },
    {
      id: `${id}.cpu`,
      name: `the same: processor time of nodes (${nodeMicros.toFixed(0)}) and database`,
      value: micros,
      unit: "µs/event",
      baseline: { name: "by one node", value: alone.micros },
      ratio: micros / alone.micros,
    },
  ];
}
