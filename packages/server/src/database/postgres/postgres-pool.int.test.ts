import { Kysely } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DatabaseUnavailableError } from "../../lib/database-unavailable.ts";
import { openDatabaseLine } from "../../testing/database-line.ts";
import { probePostgres, startPostgres, type TestPostgres } from "../../testing/start-postgres.ts";
import { startPoolingRelay } from "../../testing/pooling-relay.ts";
import { createPostgresDialect } from "./postgres-dialect.ts";
import { openPool } from "./postgres-pool.ts";

const probe = probePostgres();

// The line stands at the socket of a server of ours.
describe.skipIf(!probe.isUsable || probe.isGiven)(`a pool needs PostgreSQL (${probe.detail})`, () => {
  let server: TestPostgres;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
  });

  test("P27: a statement under which the line breaks says that the database is unavailable, whoever of the driver tells it", async () => {
    const url = await server.createDatabase();
    await using line = await openDatabaseLine(url);
    const pool = openPool({ url: line.url, name: "test", size: 1 }, () => {});
    const direct = openPool({ url, name: "test", size: 1 }, () => {});
    try {
      await pool.query("SELECT 1");
      line.set("deafen");
      const asked = pool.query("SELECT 2").catch((error: unknown) => error);
      const arrived = "SELECT pid FROM pg_stat_activity WHERE query = 'SELECT 2'";
      await expect.poll(async () => (await direct.query(arrived)).rowCount).toBe(1);
      line.set("pass");
      expect(await asked).toBeInstanceOf(DatabaseUnavailableError);
      expect((await pool.query("SELECT 3 AS number")).rows).toEqual([{ number: 3 }]);
    } finally {
      await pool.end();
      await direct.end();
    }
  });

  test("a statement with a name is prepared, but not where a pooler is on the way", async () => {
    const url = await server.createDatabase();
    await using pooler = await startPoolingRelay(url, false);
    const prepared = async (way: string): Promise<unknown[]> => {
      const pool = openPool({ url: way, name: "test", size: 1 }, () => {});
      try {
        const query = { name: "sum", text: "SELECT $1::int + 1 AS sum", values: [1] };
        expect((await pool.query(query)).rows).toEqual([{ sum: 2 }]);
        return (await pool.query("SELECT name FROM pg_prepared_statements")).rows;
      } finally {
        await pool.end();
      }
    };
    expect(await prepared(url)).toEqual([{ name: "sum" }]);
    expect(await prepared(pooler.url)).toEqual([]);
  });

  test("P7: a transaction whose beginning is answered too late holds nothing of what comes after it", async () => {
    const url = await server.createDatabase();
    await using line = await openDatabaseLine(url);
    const pool = openPool({ url: line.url, name: "test", size: 1, answerMs: 500 }, () => {});
    const direct = openPool({ url, name: "test", size: 1 }, () => {});
    const tables = new Kysely<{ kept: { number: number } }>({ dialect: createPostgresDialect(pool) });
    try {
      await direct.query("CREATE TABLE kept (number integer)");
      await pool.query("SELECT 1");
      line.set("hold");
      const begun = tables.transaction().execute(async () => expect.unreachable());
      await expect(begun).rejects.toThrow(DatabaseUnavailableError);
      line.set("pass");
      await tables.insertInto("kept").values({ number: 1 }).execute();
      expect((await direct.query("SELECT number FROM kept")).rows).toEqual([{ number: 1 }]);
    } finally {
      await tables.destroy();
      await direct.end();
    }
  });
});
