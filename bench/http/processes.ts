import type { BenchResult } from "../bench-result.ts";
import { BuiltServer } from "../node/built-server.ts";
import { ask } from "./ask.ts";

const conversationCount = 200;
const logMessages = 250;
const rounds = 3;
const connections = 16;
const load = { pages: 4_000, messages: 4_000 } as const;

type Kind = keyof typeof load;
type Speed = {
  readonly perSecond: number;
  /** Processor time of all threads of a request, in microseconds. */
  readonly micros: number;
  /** Processor time of the busiest thread, which limits the throughput. */
  readonly busiestMicros: number;
};
type Side = {
  readonly server: BuiltServer;
  readonly conversations: readonly string[];
  /** The conversation whose pages are read. */
  readonly logId: string;
};

/** The built command with one and with two processes behind its port: pages of one log that are read once, and messages to 200 conversations. */
export async function run(): Promise<BenchResult[]> {
  await using one = await BuiltServer.start({ processes: 1 });
  await using two = await BuiltServer.start({ processes: 2 });
  const sides = { one: await fill(one), two: await fill(two) };
  const results: BenchResult[] = [];
  for (const kind of ["pages", "messages"] as const) {
    const speeds: { one: Speed; two: Speed }[] = [];
    // Alternating, so that the machine's noise affects both; the first round warms up.
    for (let round = 0; round <= rounds; round += 1) {
      const speed = {
        one: await measure(sides.one, kind, round),
        two: await measure(sides.two, kind, round),
      };
      if (round > 0) speeds.push(speed);
    }
    results.push(...describe(kind, speeds));
  }
  for (const { server, conversations } of Object.values(sides)) await checkMessages(server, conversations);
  return results;
}

async function fill(server: BuiltServer): Promise<Side> {
  const created = Array.from({ length: conversationCount }, () => create(server));
  const conversations = await Promise.all(created);
  const logId = await create(server);
  for (let number = 0; number < logMessages; number += 1) await send(server, logId);
  return { server, conversations, logId };
}

async function measure({ server, conversations, logId }: Side, kind: Kind, round: number): Promise<Speed> {
  const requests = load[kind];
  const paths =
    kind === "pages"
      ? pagesOf(logId, requests, round)
      : conversations.map((id) => `/api/conversations/${id}/events`);
  const before = server.threadMs();
  const { seconds } = await ask({
    port: Number(new URL(server.url).port),
    paths,
    connections,
    requests,
    ...(kind === "messages" ? { body: message } : {}),
  });
  const spent = [...server.threadMs()].map(([thread, ms]) => ms - (before.get(thread) ?? 0));
  const total = spent.reduce((sum, ms) => sum + ms, 0);
  return {
    perSecond: requests / seconds,
    micros: (total / requests) * 1000,
    busiestMicros: (Math.max(...spent) / requests) * 1000,
  };
}

/** With search words that make each page new: each is read from the store. */
function pagesOf(logId: string, count: number, round: number): string[] {
  const search = `/api/conversations/${logId}/events/search?limit=100`;
  return Array.from({ length: count }, (_, index) => {
    const micros = String(round * count + index).padStart(6, "0");
    return `${search}&timestamp__gte=2020-01-01T00:00:00.${micros}Z`;
  });
}

function describe(
  kind: Kind,
  speeds: readonly { readonly one: Speed; readonly two: Speed }[],
): BenchResult[] {
  const middle = (pick: (speed: Speed) => number, side: "one" | "two"): number =>
    speeds.map((speed) => pick(speed[side])).toSorted((left, right) => left - right)[Math.floor(rounds / 2)]!;
  const compare = (id: string, name: string, unit: string, pick: (speed: Speed) => number): BenchResult => {
    const [value, alone] = [middle(pick, "two"), middle(pick, "one")];
    return {
      id: `processes.${kind}${id}`,
      name: `${kind} of two processes behind one port, ${connections} connections${name}`,
      value,
      unit,
      baseline: { name: "one process", value: alone },
      ratio: value / alone,
    };
  };
  const of = { pages: "page", messages: "message" }[kind];
  return [
    compare("", "", `${kind}/s`, ({ perSecond }) => perSecond),
    compare(".cpu", ": processor time", `µs/${of}`, ({ micros }) => micros),
    compare(
      ".bound",
      ": what the busiest thread has to do for one, which bounds how many there can be",
      `µs/${of}`,
      ({ busiestMicros }) => busiestMicros,
    ),
  ];
}

/** Every acknowledged message is stored once, whichever process accepted it. */
async function checkMessages(server: BuiltServer, conversations: readonly string[]): Promise<void> {
  let stored = 0;
  for (const id of conversations)
    stored += (await get(server, `/api/conversations/${id}/events/count?kind=MessageEvent`)) as number;
  const sent = load.messages * (rounds + 1);
  if (stored !== sent) throw new Error(`Of ${sent} messages ${stored} are stored.`);
}

const message = JSON.stringify({
  role: "user",
  content: [{ type: "text", text: "the quick brown fox jumps over the lazy dog. ".repeat(16) }],
  run: false,
});

async function create({ url, workDir }: BuiltServer): Promise<string> {
  const agent = {
    kind: "Agent",
    llm: { model: "openai/bench", base_url: "http://127.0.0.1:9/v1", api_key: "bench" },
    tools: [],
  };
  const reply = await post(
    `${url}/api/conversations`,
    JSON.stringify({ agent, workspace: { kind: "LocalWorkspace", working_dir: workDir } }),
  );
  return ((await reply.json()) as { id: string }).id;
}

async function send({ url }: BuiltServer, id: string): Promise<void> {
  await (await post(`${url}/api/conversations/${id}/events`, message)).text();
}

async function post(url: string, body: string): Promise<Response> {
  const reply = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });
  if (!reply.ok) throw new Error(`The server answered ${reply.status}: ${await reply.text()}`);
  return reply;
}

async function get({ url }: BuiltServer, path: string): Promise<unknown> {
  const reply = await fetch(`${url}${path}`);
  if (!reply.ok) throw new Error(`The server answered ${reply.status}: ${await reply.text()}`);
  return await reply.json();
}

if (import.meta.main) console.table(await run());
