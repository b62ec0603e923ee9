import type { ToolListing, ToolSession } from "@convoke/tool-host";
import { listMcpTool } from "../../extensions/mcp/tool-listing.ts";
import { createFastModelClock } from "../../models/clock.ts";
import { openModel } from "../../models/open-model.ts";
import type { MemoryLog } from "../interleaving/memory-journal.ts";
import { openMemoryConversation } from "../memory-conversation.ts";
import { createRandom, type Random } from "../random.ts";
import { startStrictModel, type StrictModelServer } from "../strict-models/start-strict-model.ts";
import { strictProviders } from "../strict-models/strict-providers.ts";
import { oddName, oddSchema, oddText } from "./odd-items.ts";
import { randomLog } from "./random-log.ts";

export type Finding = {
  readonly seed: number;
  readonly provider: string;
  readonly status: string;
  readonly detail: string;
  /** Whether the next message finds the conversation dead as well. */
  readonly isDead: boolean;
};

export type PlayedLogs = {
  readonly runs: number;
  readonly refusals: number;
  readonly findings: readonly Finding[];
};

export type PlayOptions = {
  readonly count: number;
  readonly seed: number;
  /** Name of a single double. */
  readonly only?: string;
  /** Number of doubles for each log; all of them unless given. */
  readonly doubles?: number;
};

/** Servers record requests: they are reopened after this many logs. */
const logsPerServer = 40;
/** Number of logs played concurrently: a run mostly waits for its server. */
const lanes = 8;

/**
 * Plays random logs against strict doubles, one double after the other on the same log, like a change of the model: the calls of each are
 * in the history of the next.
 */
export async function playLogs({
  count,
  seed,
  only = "",
  doubles = Number.POSITIVE_INFINITY,
}: PlayOptions): Promise<PlayedLogs> {
  const findings: Finding[] = [];
  let [runs, refusals] = [0, 0];
  for (let at = 0; at < count; at += logsPerServer) {
    await using servers = await openServers(only);
    const each = Math.min(doubles, servers.all.length);
    const seeds = Array.from(
      { length: Math.min(count - at, logsPerServer) },
      (_, index) => seed + at + index,
    );
    const lane = async (): Promise<void> => {
      for (let next = seeds.shift(); next !== undefined; next = seeds.shift())
        findings.push(...(await playLog(next, servers.all, each)));
    };
    runs += seeds.length * each;
    await Promise.all(Array.from({ length: lanes }, lane));
    for (const { server } of servers.all) refusals += server.refusals.length;
  }
  return { runs, refusals, findings: findings.toSorted((left, right) => left.seed - right.seed) };
}

type Opened = { readonly name: string; readonly server: StrictModelServer };

async function openServers(only: string): Promise<AsyncDisposable & { readonly all: readonly Opened[] }> {
  await using scope = new AsyncDisposableStack();
  const all: Opened[] = [];
  for (const provider of strictProviders.filter(({ name }) => only === "" || name === only)) {
    const turns = [
      {
        reasoning: "Half \ud83d a thought.",
        text: "half \ud83d a pair",
        tool_calls: [
          { name: "terminal", arguments: '{"command":"echo a\\ud83d b"}' },
          { name: "functions.unknown", arguments: "{}" },
        ],
      },
      { text: "It is done." },
      { text: "So it is." },
    ];
    const script = { turns, loop: true };
    all.push({ name: provider.name, server: scope.use(await startStrictModel(provider, { script })) });
  }
  const owned = scope.move();
  return { all, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

async function playLog(seed: number, servers: readonly Opened[], count: number): Promise<Finding[]> {
  const random = createRandom(seed);
  const log = randomLog(random);
  const tools = oddTools(random);
  const first = random.whole(servers.length);
  const findings: Finding[] = [];
  for (let offset = 0; offset < count; offset += 1) {
    const opened = servers[(first + offset) % servers.length]!;
    const finding = await playRun(seed, log, tools, opened);
    if (finding !== null) findings.push(finding);
  }
  return findings;
}

async function playRun(
  seed: number,
  log: MemoryLog,
  tools: readonly ToolListing[],
  { name, server }: Opened,
): Promise<Finding | null> {
  // Without an idle timeout: the clock is fast, and a busy machine is not silent.
  const model = openModel({ ...server.llm, timeout: null }, { clock: createFastModelClock(200) });
  const openSession = async (session: ToolSession): Promise<ToolSession> => ({
    ...session,
    tools: [...session.tools, ...tools],
  });
  await using talk = await openMemoryConversation({ model, log, openSession });
  const status = await talk.run("Go on.");
  if (status === "finished") return null;
  const detail = lastError(log);
  return { seed, provider: name, status, detail, isDead: (await talk.run("And now?")) !== "finished" };
}

function lastError(log: MemoryLog): string {
  const event = log.events.findLast(({ json }) => json.includes('"kind":"ConversationErrorEvent"'));
  return event === undefined ? "" : (JSON.parse(event.json) as { detail: string }).detail;
}

/** In the format of MCP servers. */
function oddTools(random: Random): ToolListing[] {
  return Array.from({ length: random.whole(4) }, (_, index) =>
    listMcpTool(random.whole(3) === 0 ? `${oddName(random)}_${index}` : `odd_${index}`, {
      name: `odd_${index}`,
      description: oddText(random),
      inputSchema: oddSchema(random),
    }),
  );
}
