import { once } from "node:events";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import type { Script } from "../../packages/server/src/testing/scripted-model/script.ts";
import { findPython } from "../../test/clients/python/find-python.ts";
import { preparePython } from "../../test/clients/python/python-environment.ts";
import type { BenchResult } from "../bench-result.ts";
import { percentile } from "../journal/percentile.ts";
import { BuiltServer } from "../node/built-server.ts";
import { PeerClient } from "./peer-client.ts";
import { PythonServer } from "./python-server.ts";

/**
 * What both servers can be asked, beside the reference (PyPI) in the same run: both run from beginning to end, and each operation is
 * measured turn about, so that the machine's noise hits both. Without Python 3.12 there are no numbers, and it says so.
 */
export async function run(): Promise<BenchResult[]> {
  const python = reference();
  if (python === null) return [];
  const thread = new Worker(new URL("../conversations/model-thread.ts", import.meta.url), {
    workerData: { turns: [{ text: "Done." }], loop: true } satisfies Script,
  });
  try {
    const [modelUrl] = (await once(thread, "message")) as [string];
    await using theirs = await PythonServer.start(python);
    await using ours = await BuiltServer.start();
    const startMs = await timeStart(ours);
    using own = new PeerClient(ours, modelUrl);
    using other = new PeerClient(theirs, modelUrl);
    const results = [
      result("start", "start of the process to the first answer", "ms", startMs, theirs.startMs),
    ];
    for (const operation of operations) results.push(await compare(operation, [own, other]));
    results.push(
      result(
        "memory",
        "resident memory after all of this",
        "MB",
        ours.residentMegabytes(),
        theirs.residentMegabytes(),
      ),
    );
    return results;
  } finally {
    await thread.terminate();
  }
}

/** One thing that is asked so many times in each round, of a conversation that holds so many messages. */
type Operation = {
  readonly id: string;
  readonly name: string;
  readonly times: number;
  readonly stored?: number;
  /** How many milliseconds it took. */
  readonly ask: (client: PeerClient, conversation: string) => Promise<number>;
};

const roundCount = 3;
const filler = "A sentence as people write it to each other, of an ordinary length. ".repeat(4);

const operations: readonly Operation[] = [
  { id: "health", name: "GET /health: p50", times: 100, ask: (client) => client.health() },
  {
    id: "create",
    name: "a conversation created: p50",
    times: 20,
    ask: async (client) => (await client.create()).ms,
  },
  ...[200, 2_000].map((stored) => ({
    id: `send.${stored}`,
    name: `a message stored, behind ${stored} others: p50`,
    times: 30,
    stored,
    ask: (client: PeerClient, conversation: string) => client.send(conversation, filler),
  })),
  {
    id: "page",
    name: "the newest 100 events of 2,000: p50",
    times: 30,
    stored: 2_000,
    ask: (client, conversation) => client.page(conversation),
  },
  {
    id: "search",
    name: "events with a text that one of 2,000 has: p50",
    times: 20,
    stored: 2_000,
    ask: (client, conversation) => client.page(conversation, "needle"),
  },
  {
    id: "turns",
    name: "20 first turns at once, to the end of the last: median",
    times: 1,
    ask: (client) => client.firstTurns(20),
  },
];

async function compare(operation: Operation, clients: readonly PeerClient[]): Promise<BenchResult> {
  const { id, name, times, stored = 0, ask } = operation;
  const asked = await Promise.all(
    clients.map(async (client) => ({
      client,
      conversation: await fill(client, stored),
      durationsMs: [] as number[],
    })),
  );
  for (let round = 0; round <= roundCount; round += 1)
    for (const { client, conversation, durationsMs } of asked)
      for (let count = 0; count < times; count += 1) {
        const ms = await ask(client, conversation);
        // The first round warms both up.
        if (round > 0) durationsMs.push(ms);
      }
  const [ours = NaN, theirs = NaN] = asked.map(({ durationsMs }) => percentile(durationsMs, 0.5));
  return result(id, name, "ms", ours, theirs);
}

/** A conversation with so many messages, one of which has a word that no other has. */
async function fill(client: PeerClient, stored: number): Promise<string> {
  const { id } = await client.create();
  for (let count = 0; count < stored; count += 1)
    await client.send(id, count === Math.floor(stored / 2) ? `${filler} needle` : filler);
  return id;
}

async function timeStart({ url, startedAtMs }: BuiltServer): Promise<number> {
  const reply = await fetch(`${url}/health`);
  if (!reply.ok) throw new Error(`/health answered ${reply.status}`);
  return performance.now() - startedAtMs;
}

function result(id: string, name: string, unit: string, value: number, other: number): BenchResult {
  return {
    id: `peers.${id}`,
    name,
    value,
    unit,
    baseline: { name: "the reference, agent-server 1.58.2", value: other },
    ratio: value / other,
  };
}

/** Null where this machine has no Python that is new enough; it has said so. */
function reference(): string | null {
  try {
    return preparePython(findPython(process.env), { more: join(import.meta.dirname, "requirements.txt") });
  } catch (error) {
    console.log(`Not measured beside the reference. ${(error as Error).message}`);
    return null;
  }
}

if (import.meta.main) console.table(await run());
