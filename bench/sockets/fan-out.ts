import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { WebSocketServer } from "ws";
import { sampleEvent } from "../../packages/server/src/journal/sample-events.ts";
import type { BenchResult } from "../bench-result.ts";
import { benchId, openBenchNode } from "../node/open-bench-node.ts";
import { startClients, type Clients } from "./start-clients.ts";

/** B10: frames per second that 100 clients receive of one conversation, compared with a bare `ws` broadcast of the same bytes. */
export async function run(): Promise<BenchResult[]> {
  const rounds: Round[] = [];
  // Alternating, so that the machine's noise affects both.
  for (let round = 0; round < roundCount; round += 1) {
    rounds.push({ bare: await measureBare(), ours: await measureServer() });
  }
  const speed = middleOf(rounds, ({ ours, bare }) => ours.perSecond / bare.perSecond);
  const cost = middleOf(rounds, ({ ours, bare }) => ours.microsPerFrame / bare.microsPerFrame);
  return [
    {
      id: "B10",
      name: `1 KB events, durable, from one conversation to ${socketCount} sockets`,
      value: Math.round(speed.ours.perSecond),
      unit: "frames/s",
      baseline: { name: bareName, value: Math.round(speed.bare.perSecond) },
      ratio: speed.ours.perSecond / speed.bare.perSecond,
    },
    {
      id: "B10.cpu",
      name: "processor time of the server's event loop a frame, the same runs",
      value: cost.ours.microsPerFrame,
      unit: "us",
      baseline: { name: bareName, value: cost.bare.microsPerFrame },
      ratio: cost.ours.microsPerFrame / cost.bare.microsPerFrame,
    },
  ];
}

type Measured = {
  readonly perSecond: number;
  /** Processor time of the event loop's thread. */
  readonly microsPerFrame: number;
};
type Round = { readonly bare: Measured; readonly ours: Measured };

const roundCount = 3;
const bareName = "bare ws broadcast of the same frames, nothing stored";
const socketCount = 100;
const eventCount = 4096;
/** Maximum number of events in flight to the slowest client. */
const window = 64;
const batch = 8;
const eventBytes = 1024;

function middleOf(rounds: readonly Round[], ratio: (round: Round) => number): Round {
  const sorted = rounds.toSorted((left, right) => ratio(left) - ratio(right));
  const middle = sorted[Math.floor(sorted.length / 2)];
  if (middle === undefined) throw new Error("No round was measured.");
  return middle;
}

async function measureBare(): Promise<Measured> {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1", perMessageDeflate: false });
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await using clients = await startClients({ ...plan, port, path: "/", greetingFrames: 0 });
  const measured = await measure(clients, async (seqs) => {
    for (const seq of seqs) {
      const frame = Buffer.from(sampleEvent(seq, { minLength: eventBytes }).json);
      for (const client of server.clients) client.send(frame, { binary: false });
    }
  });
  for (const client of server.clients) client.terminate();
  server.close();
  return measured;
}

async function measureServer(): Promise<Measured> {
  await using node = await openBenchNode();
  const id = benchId(1);
  await node.create(id);
  const path = `/sockets/events/${id}`;
  await using clients = await startClients({ ...plan, port: node.port, path, greetingFrames: 1 });
  // The sockets have loaded the conversation; the bench takes it over to write its own events.
  const lease = await node.journal.claim(id);
  return await measure(clients, async (seqs) => {
    const events = seqs.map((seq) => sampleEvent(seq, { minLength: eventBytes }));
    await node.journal.append(lease, { expectedSeq: (seqs[0] ?? 1) - 1, events });
  });
}

const plan = { socketCount, eventCount, reportEvery: batch, arrivals: null };

/** Publishes batch after batch, at most a window ahead of the slowest client. */
async function measure(
  clients: Clients,
  publish: (seqs: readonly number[]) => Promise<void>,
): Promise<Measured> {
  const startedAt = performance.now();
  const usedBefore = process.threadCpuUsage();
  for (let seq = 0; seq < eventCount; seq += batch) {
    await clients.have(seq - window);
    await publish(Array.from({ length: batch }, (_, index) => seq + index + 1));
  }
  await clients.have(eventCount);
  const used = process.threadCpuUsage(usedBefore);
  const frames = eventCount * socketCount;
  return {
    perSecond: frames / ((performance.now() - startedAt) / 1000),
    microsPerFrame: (used.user + used.system) / frames,
  };
}

if (import.meta.main) console.table(await run());
