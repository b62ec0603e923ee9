import { probePostgres, startPostgres } from "../../packages/server/src/testing/start-postgres.ts";
import type { BenchResult } from "../bench-result.ts";
import { measureAppends } from "./appends.ts";
import { measureDoorbell } from "./doorbell.ts";
import { measureForwarding } from "./forwarding.ts";
import { measureLargeLog } from "./large-log.ts";
import { measureNodes } from "./nodes.ts";
import { measureTakeover } from "./takeover.ts";

const parts: Readonly<Record<string, (url: string) => Promise<BenchResult[]>>> = {
  appends: measureAppends,
  doorbell: measureDoorbell,
  forwarding: measureForwarding,
  nodes: measureNodes,
  takeover: measureTakeover,
  "large-log": measureLargeLog,
};

/** Several servers on one PostgreSQL, which syncs commits to the disk by default; each part has its own database. */
export async function run(only?: string): Promise<BenchResult[]> {
  const names = only === undefined ? Object.keys(parts) : [only];
  const measures = names.map((name) => {
    const measure = parts[name];
    if (measure === undefined)
      throw new Error(`There is no part ${name}; there are ${Object.keys(parts).join(", ")}`);
    return measure;
  });
  const probe = probePostgres();
  if (!probe.isUsable) {
    console.error(`nothing was measured: ${probe.detail}`);
    return [];
  }
  const durable = ["fsync=on", "full_page_writes=on", "shared_buffers=256MB", "max_wal_size=4GB"];
  await using postgres = await startPostgres(undefined, undefined, durable);
  const results: BenchResult[] = [];
  for (const measure of measures) results.push(...(await measure(await postgres.createDatabase())));
  return results;
}

if (import.meta.main) console.table(await run(process.argv[2]));
