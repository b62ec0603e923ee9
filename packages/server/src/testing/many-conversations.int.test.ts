import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Agent } from "@convoke/protocol";
import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import { expect, test } from "vitest";
import type { ConversationConfig } from "../engine/conversation-config.ts";
import { initialState } from "../engine/state/conversation-state.ts";
import { writeSnapshot } from "../engine/state/load-state.ts";
import { stampDrafts, type EventBody } from "../events/event-draft.ts";
import { openJournal } from "../journal/open-journal.ts";
import { sampleConversation } from "../journal/sample-events.ts";
import { checkLeaksAfterEach } from "./check-leaks.ts";
import { ServerProcess } from "./server-process.ts";

checkLeaksAfterEach();

/** `CONVOKE_MANY=1000x10000` runs the numbers of the promise, and measures time and memory; among other suites the result counts. */
const wanted = process.env["CONVOKE_MANY"];
const usual = process.env["CONVOKE_EVERY_CASE"] === "1" ? "50x2000" : "50x500";
const [conversationCount = 0, eventCount = 0] = (wanted ?? usual).split("x").map(Number);
const warmUpCount = 10;
const idleSeconds = 1;

test(`P5: ${conversationCount} conversations of ${eventCount} events are opened, leave memory, and come back in 50 ms`, async () => {
  await using folder = await openTemporaryDirectory();
  const dataDir = join(folder.path, "data");
  const ids = await fill(dataDir, folder.path);
  await using server = await ServerProcess.start({ dataDir, conversationIdleSeconds: idleSeconds });
  await openAll(server, ids.slice(0, warmUpCount));
  // The thread that fills the text index has its own memory while it works.
  await expect.poll(() => isIndexed(server), { timeout: 300_000, interval: 250 }).toBe(true);
  await sleep(idleSeconds * 2_000);
  const before = await server.memory();
  const firstMs = await openAll(server, ids);
  const full = await server.memory();
  const after = await restedMemory(
    server,
    ({ rss, heapUsed }) =>
      heapUsed < before.heapUsed * 1.1 && (wanted === undefined || rss < before.rss * 1.5),
  );
  const againMs = await openAll(server, ids);
  const last = await restedMemory(
    server,
    ({ rss, heapUsed }) =>
      heapUsed < before.heapUsed * 1.1 && (wanted === undefined || rss < after.rss * 1.1),
  );
  console.log(
    `resident ${megabytes(before.rss)} MB, with all open ${megabytes(full.rss)} MB, after they left ` +
      `${megabytes(after.rss)} MB, and once more ${megabytes(last.rss)} MB; heap ${megabytes(before.heapUsed)}, ` +
      `${megabytes(full.heapUsed)}, ${megabytes(after.heapUsed)}, ${megabytes(last.heapUsed)} MB; loading takes ${median(firstMs).toFixed(1)} ms, again ` +
      `${median(againMs).toFixed(1)} ms, at most ${Math.max(...againMs).toFixed(1)} ms`,
  );
  // Conversations that stay are visible in the heap.
  for (const { heapUsed } of [after, last]) expect(heapUsed).toBeLessThan(before.heapUsed * 1.1);
  if (wanted === undefined) return;
  // The first round also grows what a process holds for its busiest moment, by a fifth and more; only growth in each round is a leak.
  expect(last.rss).toBeLessThan(after.rss * 1.1);
  expect(after.rss).toBeLessThan(before.rss * 1.5);
  // The fastest tenth: other work on the machine makes some slower, and none faster.
  expect(quantile(againMs, 0.1)).toBeLessThan(50);
}, 1_800_000);

async function isIndexed({ url, key }: ServerProcess): Promise<boolean> {
  const reply = await fetch(`${url}/api/search?q=nowhere`, { headers: { "x-session-api-key": key } });
  return ((await reply.json()) as { is_complete: boolean }).is_complete;
}

/** The memory after idle conversations were unloaded; on a busy machine that may take longer. */
async function restedMemory(
  server: ServerProcess,
  isRested: (memory: NodeJS.MemoryUsage) => boolean,
): Promise<NodeJS.MemoryUsage> {
  for (let rest = 1; ; rest += 1) {
    await sleep(idleSeconds * 2_000);
    const memory = await server.memory();
    if (isRested(memory) || rest === 30) return memory;
  }
}

/** Loads each conversation's actor and reads a page; milliseconds of each load as a client sees it. */
async function openAll(server: ServerProcess, ids: readonly string[]): Promise<number[]> {
  const loadsMs: number[] = [];
  for (const id of ids) {
    const startMs = performance.now();
    await server.client.setSecurityAnalyzer(id, null);
    loadsMs.push(performance.now() - startMs);
    const { items } = await server.client.searchEvents(id, { sort_order: "TIMESTAMP_DESC", limit: 20 });
    expect(items.length).toBe(20);
  }
  return loadsMs;
}

/** Logs as a server leaves them: the fold is cached some events before the end. */
async function fill(dataDir: string, workspace: string): Promise<string[]> {
  await using journal = await openJournal({ dataDir });
  const config: ConversationConfig = {
    agent: { kind: "Agent", llm: { model: "openai/none" }, tools: [] } as unknown as Agent,
    workspace: { kind: "LocalWorkspace", working_dir: workspace },
    confirmation_policy: { kind: "NeverConfirm" },
    security_analyzer: null,
    max_iterations: 500,
    stuck_detection: true,
    tags: {},
  };
  const events = stampDrafts(
    Array.from({ length: eventCount }, (_, index) => ({ body: spoken(index) })),
    initialState(),
    Date.now() - 1_000_000,
    (json) => json,
  );
  const cachedAt = events.at(-200)!;
  const state = initialState();
  state.lastSeq = cachedAt.seq;
  state.lastId = cachedAt.record.id;
  state.lastMicros = cachedAt.record.timestampMicros;
  const conversation = { snapshot: writeSnapshot(state), snapshotSeq: cachedAt.seq };
  const ids = Array.from({ length: conversationCount }, () => randomUUID());
  for (const id of ids) {
    const row = { ownerId: "local", config: JSON.stringify(config) };
    await journal.createConversation(sampleConversation(id, row));
    const lease = await journal.claim(id);
    for (let from = 0; from < eventCount; from += 500) {
      const batch = events.slice(from, from + 500).map(({ record }) => record);
      await journal.append(lease, { expectedSeq: from, events: batch, conversation });
    }
    await journal.release(lease);
  }
  return ids;
}

function spoken(index: number): EventBody {
  const text = `Message ${index} of an agent that has a lot to say. `.repeat(8);
  return {
    kind: "MessageEvent",
    source: "agent",
    llm_message: {
      role: "assistant",
      content: [{ type: "text", text, cache_prompt: false }],
      thinking_blocks: [],
    },
    activated_skills: [],
    extended_content: [],
  };
}

function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

function quantile(values: readonly number[], share: number): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length * share)]!;
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(0);
}
