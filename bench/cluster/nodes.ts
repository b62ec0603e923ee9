import { fork } from "node:child_process";
import { once } from "node:events";
import type { BenchResult } from "../bench-result.ts";
import { DatabaseTime } from "./database-time.ts";
import type { WriterReport, WriterTask } from "./writer-child.ts";

const eventCount = 30_000;
const conversationCount = 60;

/** The same work done by one, two and three processes: how fast, and what processor time an event costs them and the database. */
export async function measureNodes(url: string): Promise<BenchResult[]> {
  const results: BenchResult[] = [];
  let alone = { rate: 0, micros: 0 };
  await using time = await DatabaseTime.open(url);
  for (const count of [1, 2, 3]) {
    const writers = Array.from({ length: count }, () => fork(new URL("./writer-child.ts", import.meta.url)));
    const endings = writers.map((writer) => once(writer, "exit"));
    await Promise.all(writers.map((writer) => once(writer, "message")));
    const databaseBefore = await time.read();
    const reports = writers.map(async (writer, index): Promise<WriterReport> => {
      const conversations = conversationCount / count;
      const perConversation = eventCount / conversationCount;
      const task: WriterTask = { url, prefix: `${count}-${index}`, conversations, perConversation };
      const told = once(writer, "message");
      writer.send(task);
      return (await told)[0] as WriterReport;
    });
    const done = await Promise.all(reports);
    const databaseMicros = (await time.read()) - databaseBefore;
    await Promise.all(endings);
    const seconds =
      (Math.max(...done.map(({ endMs }) => endMs)) - Math.min(...done.map(({ startMs }) => startMs))) / 1000;
    const rate = eventCount / seconds;
    const nodeMicros = done.reduce((sum, { cpuMicros }) => sum + cpuMicros, 0);
    const micros = (nodeMicros + databaseMicros) / eventCount;
    if (count === 1) alone = { rate, micros };
    results.push(
      {
        id: `cluster.nodes${count}`,
        name: `durable appends of 1 KB by ${count} nodes, ${conversationCount} conversations`,
        value: Math.round(rate),
        unit: "events/s",
        baseline: { name: "by one node", value: Math.round(alone.rate) },
        ratio: rate / alone.rate,
      },
      {
        id: `cluster.nodes${count}.cpu`,
        name: `the same: processor time of nodes (${(nodeMicros / eventCount).toFixed(0)}) and database`,
        value: micros,
        unit: "µs/event",
        baseline: { name: "by one node", value: alone.micros },
        ratio: micros / alone.micros,
      },
    );
  }
  return results;
}
