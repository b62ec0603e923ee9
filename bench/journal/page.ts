import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EventFilter, EventQuery, Journal } from "../../packages/server/src/journal/journal.ts";
import { openJournal } from "../../packages/server/src/journal/open-journal.ts";
import { sampleId, sampleMicros } from "../../packages/server/src/journal/sample-events.ts";
import type { BenchResult } from "../bench-result.ts";
import { percentile } from "./percentile.ts";
import { agentWord, rareWord, seedLog, untilQuiet, untilRead, type SeededLog } from "./seed-log.ts";

/** B6 and P4: pages of 100 in a large log and in a small one, for each documented filter and both orders. */
export async function run(): Promise<BenchResult[]> {
  const folder = mkdtempSync(join(tmpdir(), "convoke-bench-"));
  try {
    await using journal = await openJournal({ dataDir: folder });
    const small = await seedLog(journal, "small", 1000);
    const large = await seedLog(journal, "large", 1_000_000);
    await untilRead(journal);
    await untilQuiet(journal, large);
    const results = await measurePages(journal, { small, large }, "B6");
    results.push(...(await measureBytes(journal, large)));
    return results;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A page of each documented filter in both orders. */
export async function measurePages(
  journal: Journal,
  logs: { small: SeededLog; large: SeededLog },
  id: string,
): Promise<BenchResult[]> {
  const results: BenchResult[] = [];
  for (const [name, filter] of cases(logs.large.size)) {
    for (const order of ["TIMESTAMP", "TIMESTAMP_DESC"] as const) {
      results.push(await measure(journal, logs, { id, name }, { ...filter, order, limit: 100 }));
    }
  }
  return results;
}

const rounds = 40;

function cases(size: number): [name: string, filter: EventFilter][] {
  const late = { timestampGteMicros: sampleMicros(size * 0.9) };
  const window = {
    timestampGteMicros: sampleMicros(size * 0.4),
    timestampLtMicros: sampleMicros(size * 0.41),
  };
  return [
    ["no filter", {}],
    ["kind, frequent", { kind: "ActionEvent" }],
    ["kind, 1 in 50,000", { kind: "ConversationErrorEvent" }],
    ["kind, absent", { kind: "PauseEvent" }],
    ["source", { source: "agent" }],
    ["source, 1 in 100", { source: "user" }],
    ["kind and source", { kind: "MessageEvent", source: "user" }],
    ["time", window],
    ["time and source, 1 in 100", { ...window, source: "user" }],
    ["time and rare kind", { ...late, kind: "ConversationErrorEvent" }],
    ["body, in most messages", { body: agentWord.toUpperCase() }],
    ["body, 1 message in 1,000", { body: rareWord.toLowerCase() }],
    ["body, one message", { body: `item ${size / 2 + 10}:` }],
    ["body, absent", { body: "zyzzyva" }],
    ["body, common grams, absent", { body: "the server of an error is wrong" }],
    ["body, two characters, common", { body: "fi" }],
    ["body, two characters, absent", { body: "q?" }],
    ["body and source, never together", { body: agentWord, source: "user" }],
    ["body and source, 1 in 100", { body: "please check", source: "user" }],
    ["body and other kind", { body: agentWord, kind: "ActionEvent" }],
    ["body and time", { ...window, body: agentWord }],
    ["rare body and time", { ...late, body: rareWord }],
  ];
}

async function measure(
  journal: Journal,
  logs: { small: SeededLog; large: SeededLog },
  { id, name }: { readonly id: string; readonly name: string },
  query: EventQuery,
): Promise<BenchResult> {
  const samples = { small: [] as number[], large: [] as number[] };
  for (let round = 0; round < rounds; round += 1) {
    for (const size of ["small", "large"] as const) {
      const { conversationId, size: length } = logs[size];
      // The first page, and pages at random places.
      const pageId = sampleId(1 + ((round * 7_919 * 31) % length));
      const paged = round % 2 === 0 ? query : { ...query, pageId };
      const startedAt = performance.now();
      await journal.search(conversationId, paged);
      samples[size].push(performance.now() - startedAt);
    }
  }
  const value = percentile(samples.large, 0.99);
  return {
    id: `${id}.${name}.${query.order === "TIMESTAMP" ? "asc" : "desc"}`,
    name: `page of 100 at 1,000,000 events, p99: ${name}`,
    value,
    unit: "ms",
    baseline: { name: "median at 1,000 events; ratio of the medians", value: percentile(samples.small, 0.5) },
    ratio: percentile(samples.large, 0.5) / percentile(samples.small, 0.5),
  };
}

/** Pages as response bodies: read from the journal, compared with the same texts in memory. */
async function measureBytes(journal: Journal, log: SeededLog): Promise<BenchResult[]> {
  const pages: string[][] = [];
  const queryAt = (page: number): EventQuery => ({
    order: "TIMESTAMP",
    limit: 100,
    pageId: sampleId(1 + ((page * 104_729) % (log.size - 100))),
  });
  const pageCount = 1000;
  for (let page = 0; page < pageCount; page += 1) {
    pages.push((await journal.search(log.conversationId, queryAt(page))).items);
  }
  const bytesPerSecond = async (readItems: (page: number) => Promise<string[]>): Promise<number> => {
    let bytes = 0;
    const startedAt = performance.now();
    for (let page = 0; page < pageCount; page += 1) {
      bytes += Buffer.from(`{"items":[${(await readItems(page)).join()}]}`).length;
    }
    return bytes / 1e6 / ((performance.now() - startedAt) / 1000);
  };
  const memory = await bytesPerSecond(async (page) => pages[page] ?? []);
  const value = await bytesPerSecond(
    async (page) => (await journal.search(log.conversationId, queryAt(page))).items,
  );
  return [
    {
      id: "B6.bytes",
      name: "page bodies at random places, without HTTP",
      value: Math.round(value),
      unit: "MB/s",
      baseline: { name: "the same texts in memory", value: Math.round(memory) },
      ratio: value / memory,
    },
  ];
}

if (import.meta.main) console.table(await run());
