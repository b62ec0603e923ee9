import type { Pool } from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openPool } from "../database/postgres/postgres-pool.ts";
import { probePostgres, startPostgres, type TestPostgres } from "../testing/start-postgres.ts";
import { migrate, type SchemaPart } from "./migrate.ts";

const probe = probePostgres();
const create = "CREATE TABLE convoke.things (id integer)";
const first: SchemaPart = { name: "things", firstVersion: 3, steps: [create] };
const second: SchemaPart = { ...first, steps: [create, "ALTER TABLE convoke.things ADD COLUMN name text"] };

describe.skipIf(!probe.isUsable)(`parts of the schema need PostgreSQL (${probe.detail})`, () => {
  let server: TestPostgres;
  let pool: Pool;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    pool = openPool({ url: await server.createDatabase(), name: "migrate", size: 2 }, () => {});
    return async () => await pool.end();
  });

  const ask = async (sql: string): Promise<unknown[]> => (await pool.query(sql)).rows;
  const versions = "SELECT name, version FROM convoke.parts";

  test("P57: a part of an older release gets what later versions add, once, and keeps its rows", async () => {
    await migrate(pool, first);
    await ask("INSERT INTO convoke.things VALUES (7)");
    expect(await ask(versions)).toEqual([{ name: "things", version: 3 }]);
    for (const _start of ["first", "second"]) {
      await migrate(pool, second);
      expect(await ask("SELECT * FROM convoke.things")).toEqual([{ id: 7, name: null }]);
    }
    // The older release works beside it.
    await migrate(pool, first);
    expect(await ask(versions)).toEqual([{ name: "things", version: 4 }]);
  });

  test("processes that begin together make a part once", async () => {
    await Promise.all([migrate(pool, second), migrate(pool, second), migrate(pool, first)]);
    expect(await ask(versions)).toEqual([{ name: "things", version: 4 }]);
  });

  test("P57: a part of a development version is refused with what to do, and stays as it is", async () => {
    await migrate(pool, { name: "things", firstVersion: 1, steps: [create, "SELECT"] });
    await expect(migrate(pool, second)).rejects.toThrow(
      'The part "things" of the database has format 2, of a development version from before the first release: use an empty database',
    );
    expect(await ask(versions)).toEqual([{ name: "things", version: 2 }]);
  });
});
