import { probePostgres, startPostgres } from "../../packages/server/src/testing/start-postgres.ts";
import type { BenchResult } from "../bench-result.ts";
import { measureAppends } from "./appends.ts";
import { measureDoorbell } from "./doorbell.ts";
import { measureForwarding } from "./forwarding.ts";
import { measureLargeLog } from "./large-log.ts";
import { measureNodes } from "./nodes.ts";
import { measureTakeover } from "./takeover.ts";

/** Several servers on one PostgreSQL, which waits for the disk as it does by default; each part has a database of its own. */
export async function run(): Promise<BenchResult[]> {
  const probe = probePostgres();
  if (!probe.isUsable) {
    console.error(`nothing was measured: ${probe.detail}`);
    return [];
  }
  const durable = ["fsync=on", "full_page_writes=on", "shared_buffers=256MB", "max_wal_size=4GB"];
  await using postgres = await startPostgres(undefined, undefined, durable);
  const results: BenchResult[] = [];
  for (const measure of [
    measureAppends,
    measureDoorbell,
    measureForwarding,
    measureNodes,
    measureTakeover,
    measureLargeLog,
  ]) {
    results.push(...(await measure(await postgres.createDatabase())));
  }
  return results;
}

if (import.meta.main) console.table(await run());
