import { openPostgresJournal } from "../../packages/server/src/journal/postgres/postgres-journal.ts";
import type { BenchResult } from "../bench-result.ts";
import { measureLatency } from "../journal/append.ts";
import { measurePages } from "../journal/page.ts";
import { seedLog, untilQuiet, untilRead } from "../journal/seed-log.ts";

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
