import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DatabaseAwayError } from "../../lib/database-away.ts";
import { openDatabaseLine } from "../../testing/database-line.ts";
import { probePostgres, startPostgres, type TestPostgres } from "../../testing/start-postgres.ts";
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

  test("P27: a statement under which the line breaks says that the database is away, whoever of the driver tells it", async () => {
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
      expect(await asked).toBeInstanceOf(DatabaseAwayError);
      expect((await pool.query("SELECT 3 AS number")).rows).toEqual([{ number: 3 }]);
    } finally {
      await pool.end();
      await direct.end();
    }
  });
});
