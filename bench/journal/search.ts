import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Journal, Lease, NewEvent, TextQuery } from "../../packages/server/src/journal/journal.ts";
import { openJournal } from "../../packages/server/src/journal/open-journal.ts";
import {
  sampleConversation,
  sampleId,
  sampleMicros,
} from "../../packages/server/src/journal/sample-events.ts";
import { openSqliteJournal } from "../../packages/server/src/journal/sqlite/sqlite-journal.ts";
import { readTerms } from "../../packages/server/src/journal/text-terms.ts";
import type { BenchResult } from "../bench-result.ts";
import { percentile } from "./percentile.ts";

/** B7: the search of all conversations at 1,000,000 events; the cost of its index for an append, and on the disk. */
export async function run(): Promise<BenchResult[]> {
  const folder = mkdtempSync(join(tmpdir(), "convoke-bench-"));
  try {
    const results = await measureAppends(folder);
    const dataDir = join(folder, "large");
    await using journal = await openJournal({ dataDir });
    await seed(journal);
    const startedAt = performance.now();
    await untilRead(journal);
    const seconds = (performance.now() - startedAt) / 1000;
    results.push({
      id: "B7.reading",
      name: "events that are read into the index, after they were appended as fast as possible",
      value: Math.round(eventCount / seconds),
      unit: "events/s",
    });
    results.push(...(await measureSearches(journal)));
    const sizeOf = (name: string): number => statSync(join(dataDir, name)).size / 1e6;
    results.push({
      id: "B7.size",
      name: "the index on disk, 1,000,000 events",
      value: Math.round(sizeOf("texts.db")),
      unit: "MB",
      baseline: { name: "the journal", value: Math.round(sizeOf("journal.db")) },
      ratio: sizeOf("texts.db") / sizeOf("journal.db"),
    });
    return results;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const eventCount = Number(process.env["CONVOKE_BENCH_EVENTS"] ?? 1_000_000);
const perConversation = 500;
const rounds = 60;

const typed: readonly (readonly [name: string, typed: string, filter?: Partial<TextQuery>])[] = [
  ["a word that most have", "the"],
  ["a word of one event in 1,000", "kestrel"],
  ["a word of one event", "onlyhere"],
  ["a word of none", "zyzzyva"],
  ["two words, both frequent", "error server"],
  ["a phrase of frequent words, none", '"an error of the server is the file"'],
  ["a path", "src/module-77/file-4.ts"],
  ["a part of a command", "vitest run packages/mod"],
  ["two characters", "q?"],
  ["frequent, of messages of the user", "the", { source: "user" }],
  ["rare, in a span of time", "kestrel", { timestampLtMicros: microsOf(eventCount / 2) }],
];

async function measureSearches(journal: Journal): Promise<BenchResult[]> {
  const results: BenchResult[] = [];
  const all: number[] = [];
  for (const [name, words, filter] of typed) {
    const samples: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const query: TextQuery = { ownerId: "owner", terms: readTerms(words), limit: 20, ...filter };
      let pageId: string | null = null;
      // The first page and the next two.
      for (let page = 0; page < 3; page += 1) {
        const startedAt = performance.now();
        const found = await journal.searchTexts(pageId === null ? query : { ...query, pageId });
        samples.push(performance.now() - startedAt);
        pageId = found.nextPageId;
        if (pageId === null) break;
      }
    }
    all.push(...samples);
    results.push({
      id: `B7.${name}`,
      name: `page of 20 of all conversations, 1,000,000 events, p99: ${name}`,
      value: percentile(samples, 0.99),
      unit: "ms",
      baseline: { name: "median", value: percentile(samples, 0.5) },
    });
  }
  const [p99, p50] = [percentile(all, 0.99), percentile(all, 0.5)];
  results.unshift({
    id: "B7",
    name: "page of 20 of all conversations, 1,000,000 events, p99 of all these searches",
    value: p99,
    unit: "ms",
    baseline: { name: "median", value: p50 },
  });
  return results;
}

/** The same appends to a journal with and without an index, alternating. */
async function measureAppends(folder: string): Promise<BenchResult[]> {
  await using plain = await openSqliteJournal(join(folder, "plain"), { indexAfterMs: null });
  await using indexed = await openSqliteJournal(join(folder, "indexed"), { indexAfterMs: 0 });
  const writers = await Promise.all(
    [plain, indexed].map(async (journal) => {
      const lease = await start(journal, "one");
      return { journal, lease, samples: [] as number[], seq: 0 };
    }),
  );
  for (let round = 0; round < 3000; round += 1) {
    for (const writer of writers) {
      writer.seq += 1;
      const startedAt = performance.now();
      await writer.journal.append(writer.lease, {
        expectedSeq: writer.seq - 1,
        events: [workEvent(writer.seq, writer.seq)],
      });
      writer.samples.push(performance.now() - startedAt);
    }
    // At an agent's pace, so that indexing keeps up.
    if (round % 10 === 0) await delay(20);
  }
  const [bare, withIndex] = writers.map(({ samples }) => samples);
  return [0.5, 0.99].map((share) => ({
    id: share === 0.5 ? "B7.append" : "B7.append.p99",
    name: `one durable append of 1 KB while texts are indexed, ${share === 0.5 ? "median" : "p99"}`,
    value: percentile(withIndex!, share),
    unit: "ms",
    baseline: { name: "without an index", value: percentile(bare!, share) },
    ratio: percentile(withIndex!, share) / percentile(bare!, share),
  }));
}

async function start(journal: Journal, id: string): Promise<Lease> {
  await journal.createConversation(sampleConversation(id));
  return await journal.claim(id);
}

async function seed(journal: Journal): Promise<void> {
  let pending: Promise<void> = Promise.resolve();
  for (let first = 0; first < eventCount; first += perConversation) {
    const lease = await start(journal, `conversation-${first}`);
    const events = Array.from({ length: perConversation }, (_, index) =>
      workEvent(index + 1, first + index + 1),
    );
    await pending;
    pending = journal.append(lease, { expectedSeq: 0, events });
  }
  await pending;
}

async function untilRead(journal: Journal): Promise<void> {
  const query: TextQuery = { ownerId: "owner", terms: ["a"], limit: 1 };
  while (!(await journal.searchTexts(query)).isComplete) await delay(200);
}

/** Ten events a second. */
function microsOf(number: number): number {
  return sampleMicros(number * 10_000);
}

/** Realistic texts of 1 KB each: messages, commands, outputs, edits; `number` counts across all logs. */
function workEvent(seq: number, number: number): NewEvent {
  const next = random(number);
  const rare = number % 1000 === 7 ? " Kestrel" : number === Math.floor(eventCount / 3) ? " onlyhere" : "";
  const path = `src/module-${next(400)}/file-${next(40)}.ts`;
  const base = { id: sampleId(number), timestampMicros: microsOf(number), text: null, meta: null };
  if (number % 10 === 0) {
    const source = number % 50 === 0 ? "user" : "agent";
    const text = `${words(next, 90)}${rare} in ${path}`;
    const content = [{ type: "text", text }];
    const event = { id: base.id, source, llm_message: { role: source, content }, kind: "MessageEvent" };
    return { ...base, text, kind: "MessageEvent", source, json: JSON.stringify(event) };
  }
  if (number % 2 === 1) {
    const command =
      next(2) === 0
        ? `npx vitest run packages/module-${next(400)} && cat ${path}`
        : `sed -n ${next(900)}p ${path}`;
    const thought = [{ type: "text", text: words(next, 40) + rare }];
    const action = { command: `${command} # ${words(next, 40)}`, kind: "TerminalAction" };
    const event = {
      id: base.id,
      source: "agent",
      thought,
      action,
      tool_name: "terminal",
      kind: "ActionEvent",
    };
    return { ...base, kind: "ActionEvent", source: "agent", json: JSON.stringify(event) };
  }
  const lines = Array.from({ length: 12 }, () => `${path}:${next(2000)}: ${words(next, 8)}`);
  const observation = {
    content: [{ type: "text", text: lines.join("\n") + rare }],
    exit_code: 0,
    kind: "TerminalObservation",
  };
  const event = {
    id: base.id,
    source: "environment",
    tool_name: "terminal",
    observation,
    kind: "ObservationEvent",
  };
  return { ...base, kind: "ObservationEvent", source: "environment", json: JSON.stringify(event) };
}

const syllables = "er ra to ni ce lo va st im por re con de pa ti on al ex su qu".split(" ");
const frequent = "the a of to error server file is in test line return value not found import".split(" ");

/** Half of them frequent words, the others from about 8,000. */
function words(next: (below: number) => number, count: number): string {
  const word = (): string => {
    if (next(2) === 0) return frequent[next(frequent.length)]!;
    return Array.from({ length: 3 }, () => syllables[next(syllables.length)]).join("");
  };
  return Array.from({ length: count }, word).join(" ");
}

/** The same numbers for the same seed. */
function random(seed: number): (below: number) => number {
  let state = Math.imul(seed, 0x9e_37_79_b1) >>> 0;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c_1b_3c_6d) + 0x6d_2b_79_f5) >>> 0;
    return Math.floor(((state ^ (state >>> 14)) >>> 0) % below);
  };
}

if (import.meta.main) console.table(await run());
