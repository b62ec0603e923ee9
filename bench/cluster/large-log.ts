import { setTimeout as sleep } from "node:timers/promises";
import type { Journal } from "../../packages/server/src/journal/journal.ts";
import { openPostgresJournal } from "../../packages/server/src/journal/postgres/postgres-journal.ts";
import type { BenchResult } from "../bench-result.ts";
import { measureLatency } from "../journal/append.ts";
import { measurePages } from "../journal/page.ts";
import { seedLog, untilQuiet } from "../journal/seed-log.ts";

/** A log of 1,000,000 events compared with one of 1,000: pages by every filter, and one append. */
export async function measureLargeLog(url: string): Promise<BenchResult[]> {
  await using journal = await openPostgresJournal({ url, onFailure: (error) => console.error(error) });
  const small = await seedLog(journal, "small", 1000);
  const large = await seedLog(journal, "large", 1_000_000);
  await untilRead(journal);
  await untilQuiet(journal, large);
  const logs = { small, large };
  const pages = await measurePages(journal, logs, "cluster-page");
  return [...pages, ...(await measureLatency(journal, logs, "cluster.late"))];
}

const readLimitMs = 300_000;

/** Waits until the text index of this process is complete, which would be measured too. */
async function untilRead(journal: Journal): Promise<void> {
  const latest = performance.now() + readLimitMs;
  const query = { ownerId: "owner", terms: ["zyzzyva"], limit: 1 };
  while (performance.now() < latest && !(await journal.searchTexts(query)).isComplete) await sleep(1000);
}
