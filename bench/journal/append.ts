import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Journal } from "../../packages/server/src/journal/journal.ts";
import { openJournal } from "../../packages/server/src/journal/open-journal.ts";
import { sampleConversation, sampleEvent } from "../../packages/server/src/journal/sample-events.ts";
import type { BenchResult } from "../bench-result.ts";
import { percentile } from "./percentile.ts";
import { seedLog, untilQuiet, type SeededLog } from "./seed-log.ts";

/** B3: durable appends per second; B5: the cost of one append in a large log; the latency of a single append. */
export async function run(): Promise<BenchResult[]> {
  const folder = mkdtempSync(join(tmpdir(), "convoke-bench-"));
  try {
    const results: BenchResult[] = [];
    for (const batch of [1, 4, 16]) {
      const baseline = measureBaseline(join(folder, `bare-${batch}.db`), batch);
      await using journal = await openJournal({ dataDir: join(folder, `journal-${batch}`) });
      const value = await measureThroughput(journal, batch);
      results.push({
        id: batch === 4 ? "B3" : `B3.batch${batch}`,
        name: `durable appends of 1 KB, ${conversationCount} conversations, ${batch} a batch`,
        value: Math.round(value),
        unit: "events/s",
        baseline: { name: "bare node:sqlite, same groups, one thread", value: Math.round(baseline) },
        ratio: value / baseline,
      });
    }
    await using journal = await openJournal({ dataDir: join(folder, "journal") });
    const small = await seedLog(journal, "small", 1000);
    const large = await seedLog(journal, "large", 1_000_000);
    await untilQuiet(journal, large);
    results.push(...(await measureLatency(journal, { small, large }, "B5")));
    return results;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const conversationCount = 64;
const eventCount = 40_000;
const sampleSeconds = 1.5;

async function measureThroughput(journal: Journal, batchSize: number): Promise<number> {
  const writers = await Promise.all(
    Array.from({ length: conversationCount }, async (_, index) => {
      await journal.createConversation(sampleConversation(`conversation-${index}`));
      return await journal.claim(`conversation-${index}`);
    }),
  );
  const perWriter = Math.ceil(eventCount / conversationCount / batchSize) * batchSize;
  const startedAt = performance.now();
  await Promise.all(
    writers.map(async (lease) => {
      for (let seq = 0; seq < perWriter; seq += batchSize) {
        const events = Array.from({ length: batchSize }, (_, index) =>
          sampleEvent(seq + index + 1, { minLength: 1000 }),
        );
        await journal.append(lease, { expectedSeq: seq, events });
      }
    }),
  );
  return (perWriter * conversationCount) / ((performance.now() - startedAt) / 1000);
}

/** The same rows in the same groups, without conversations, leases, threads or promises. */
function measureBaseline(path: string, batchSize: number): number {
  const database = new DatabaseSync(path);
  database.exec("PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  database.exec("CREATE TABLE events (position INTEGER PRIMARY KEY, id TEXT, kind TEXT, json TEXT)");
  const insert = database.prepare("INSERT INTO events VALUES (?, ?, ?, ?)");
  const startedAt = performance.now();
  let inserted = 0;
  for (let seq = 1; inserted < eventCount; seq += batchSize) {
    database.exec("BEGIN IMMEDIATE");
    for (let conversation = 0; conversation < conversationCount; conversation += 1) {
      for (let index = 0; index < batchSize; index += 1) {
        const event = sampleEvent(seq + index, { minLength: 1000 });
        insert.run(conversation * 2 ** 28 + seq + index, event.id, event.kind, event.json);
        inserted += 1;
      }
    }
    database.exec("COMMIT");
  }
  const perSecond = inserted / ((performance.now() - startedAt) / 1000);
  database.close();
  return perSecond;
}

/** One append after the other, at the ends of both logs. */
export async function measureLatency(
  journal: Journal,
  { small, large }: { readonly small: SeededLog; readonly large: SeededLog },
  id: string,
): Promise<BenchResult[]> {
  const results: BenchResult[] = [];
  const samples = { small: [] as number[], large: [] as number[] };
  const cursors = { small: small.size, large: large.size };
  // Alternating, so that noise of the machine affects both.
  for (const until = performance.now() + 2 * sampleSeconds * 1000; performance.now() < until;) {
    for (const name of ["small", "large"] as const) {
      const lease = name === "small" ? small.lease : large.lease;
      const events = [sampleEvent((cursors[name] += 1), { minLength: 1000 })];
      const startedAt = performance.now();
      await journal.append(lease, { expectedSeq: cursors[name] - 1, events });
      samples[name].push(performance.now() - startedAt);
    }
  }
  const median = { small: percentile(samples.small, 0.5), large: percentile(samples.large, 0.5) };
  results.push(
    {
      id,
      name: "one append at 1,000,000 events, median",
      value: median.large,
      unit: "ms",
      baseline: { name: "at 1,000 events", value: median.small },
      ratio: median.large / median.small,
    },
    {
      id: `${id}.p99`,
      name: "one lone durable append, p99",
      value: percentile(samples.large, 0.99),
      unit: "ms",
    },
  );
  return results;
}

if (import.meta.main) console.table(await run());
