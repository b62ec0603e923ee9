import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInProcessHost } from "@convoke/tool-host";
import { expect, test } from "vitest";
import { readConfig } from "../boot/config.ts";
import type { Journal } from "../journal/journal.ts";
import { openJournal } from "../journal/open-journal.ts";
import { sampleConversation, sampleEvent } from "../journal/sample-events.ts";
import { silentLogger } from "../lib/logger.ts";
import { openServer } from "../boot/open-server.ts";
import { createQuickTools } from "./quick-tools.ts";

const key = "test-session-key";
/** Size of the second folder: conversations, and events of one of them; the promise is about 100,000. */
const many = Number(process.env["CONVOKE_ROWS"] ?? 400);

type Work = {
  /** Every call of the journal until the server answers, in order. */
  readonly start: readonly string[];
  readonly list: readonly string[];
  readonly tail: readonly string[];
  readonly startMs: number;
  readonly listMs: number;
  readonly tailMs: number;
};

test("P21, P37, P38: a start, a page of the list and the end of a log take the same work, however much is stored", async () => {
  const small = await workOf(30);
  const large = await workOf(many);
  expect(large.start).toEqual(small.start);
  expect(large.list).toEqual(small.list);
  expect(large.tail).toEqual(small.tail);
  // No bodies: the start reads no log at all.
  expect(large.start.filter((name) => /^(read|search|get)(Event|$)/.test(name))).toEqual([]);
  if (many < 100_000) return;
  console.log(`start ${large.startMs} ms, list ${large.listMs} ms, tail ${large.tailMs} ms`);
  expect(large.listMs).toBeLessThan(10 * small.listMs + 50);
  expect(large.tailMs).toBeLessThan(10 * small.tailMs + 50);
}, 600_000);

/** With this many idle conversations, one of which has this many events. */
async function workOf(count: number): Promise<Work> {
  const folder = await mkdtemp(join(tmpdir(), "convoke-constant-"));
  try {
    const dataDir = join(folder, "data");
    await seed(dataDir, count);
    const calls: string[] = [];
    const startedMs = performance.now();
    await using server = await openServer({
      config: {
        ...readConfig({}, { host: "127.0.0.1", port: 0, dataDir, workspaceRoot: folder }),
        sessionApiKeys: [key],
      },
      toolHost: createInProcessHost({ tools: createQuickTools().tools, environment: {} }),
      logger: silentLogger,
      wrap: { journal: (journal) => counted(journal, calls), model: (model) => model },
    });
    const ask = async (path: string): Promise<{ names: readonly string[]; ms: number }> => {
      calls.length = 0;
      const askedMs = performance.now();
      const reply = await fetch(`${server.url}${path}`, { headers: { "x-session-api-key": key } });
      const text = await reply.text();
      expect(reply.status, text).toBe(200);
      return { names: [...calls], ms: performance.now() - askedMs };
    };
    await fetch(`${server.url}/alive`);
    const startMs = performance.now() - startedMs;
    const start = [...calls];
    const list = await ask("/api/conversations/search?limit=20");
    const tail = await ask(`/api/conversations/${idOf(0)}/events/search?sort_order=TIMESTAMP_DESC&limit=20`);
    return { start, startMs, list: list.names, listMs: list.ms, tail: tail.names, tailMs: tail.ms };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function seed(dataDir: string, count: number): Promise<void> {
  await using journal = await openJournal({ dataDir });
  const config = JSON.stringify({
    agent: { kind: "Agent", llm: { model: "openai/scripted" }, tools: [] },
    workspace: { kind: "LocalWorkspace", working_dir: dataDir },
    confirmation_policy: { kind: "NeverConfirm" },
    security_analyzer: null,
    max_iterations: 1,
    stuck_detection: true,
    tags: {},
  });
  for (let number = 0; number < count; number += 1_000) {
    const here = Math.min(1_000, count - number);
    await Promise.all(
      Array.from({ length: here }, (_, index) =>
        journal.createConversation(sampleConversation(idOf(number + index), { config, ownerId: "local" })),
      ),
    );
  }
  const lease = await journal.claim(idOf(0));
  for (let seq = 0; seq < count; seq += 100) {
    const here = Math.min(100, count - seq);
    const events = Array.from({ length: here }, (_, index) => timed(seq + index + 1));
    await journal.append(lease, { expectedSeq: seq, events });
  }
  await journal.release(lease);
}

/** Like every stored event: with the time in its text. */
function timed(seq: number) {
  const event = sampleEvent(seq);
  const timestamp = new Date(Math.floor(event.timestampMicros / 1000)).toISOString().replace("Z", "000Z");
  return { ...event, json: event.json.replace("{", `{"timestamp":"${timestamp}",`) };
}

function idOf(number: number): string {
  return `00000000-0000-4000-8000-${number.toString(16).padStart(12, "0")}`;
}

/** Queries of the timer, of which a longer start has more, and subscriptions, of which the last ones may be made behind the start. */
const isLeftOut = (name: string): boolean =>
  name === "listActiveElsewhere" || name === "listActiveHere" || /^on[A-Z]/.test(name);

/** The same journal, which records its calls. */
function counted(journal: Journal, calls: string[]): Journal {
  return new Proxy(journal, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      return (...given: unknown[]): unknown => {
        if (typeof name === "string" && !isLeftOut(name)) calls.push(name);
        return Reflect.apply(value, target, given);
      };
    },
  });
}
