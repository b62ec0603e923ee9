import { openConnection } from "../../packages/server/src/database/postgres/postgres-connection.ts";
import type { BenchResult } from "../bench-result.ts";
import { sendMessages } from "../conversations/send.ts";
import { openBenchNode } from "../node/open-bench-node.ts";

/** Each conversation has one pending message, and a message is two events: so no group of the server is larger. */
const groupRows = 400;

/** Stored events per second, compared with the same rows inserted in groups, and with SQLite. */
export async function measureAppends(url: string): Promise<BenchResult[]> {
  const rates: { postgres: number; sqlite: number } = { postgres: 0, sqlite: 0 };
  for (const store of ["postgres", "sqlite"] as const) {
    await using node = await openBenchNode(store === "postgres" ? { databaseUrl: url } : {});
    const { stored, seconds } = await sendMessages(node);
    rates[store] = Math.round(stored / seconds);
  }
  const bare = await insertAgain(url);
  const name = "events stored durably by sending 1 KB messages to 200 conversations";
  const value = rates.postgres;
  return [
    {
      id: "cluster.append",
      name,
      value,
      unit: "events/s",
      baseline: { name: `the same rows, bare inserts of ${groupRows} by pg`, value: bare },
      ratio: value / bare,
    },
    {
      id: "cluster.append.sqlite",
      name,
      value,
      unit: "events/s",
      baseline: { name: "SQLite", value: rates.sqlite },
      ratio: value / rates.sqlite,
    },
  ];
}

/** Copies the existing rows into a table with the same indexes. Returns rows per second. */
async function insertAgain(url: string): Promise<number> {
  const client = await openConnection({ url, name: "bench" });
  try {
    await client.query("CREATE TABLE bare (LIKE convoke.events INCLUDING ALL)");
    const { rows } = await client.query<unknown[]>({
      text: "SELECT log, seq, id, at, class, json, meta, checksum FROM convoke.events ORDER BY seq, log",
      rowMode: "array",
    });
    const text = `INSERT INTO bare SELECT * FROM unnest($1::bigint[], $2::int[], $3::uuid[], $4::bigint[], $5::smallint[],
      $6::text[], $7::text[], $8::bigint[])`;
    const startedAt = performance.now();
    for (let first = 0; first < rows.length; first += groupRows) {
      const group = rows.slice(first, first + groupRows);
      const columns = rows[0]!.map((_, column) => group.map((row) => row[column]));
      await client.query({ name: "bare", text, values: columns });
    }
    return Math.round(rows.length / ((performance.now() - startedAt) / 1000));
  } finally {
    await client.end();
  }
}
