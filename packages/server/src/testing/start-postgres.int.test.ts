import { existsSync } from "node:fs";
import { Client } from "pg";
import { describe, expect, test } from "vitest";
import { probePostgres, startPostgres } from "./start-postgres.ts";

const probe = probePostgres();

describe.skipIf(!probe.isUsable)(`needs PostgreSQL (${probe.detail})`, () => {
  test("each database is a copy of the prepared one, and nothing of the server is left", async () => {
    let url: string;
    {
      await using server = await startPostgres(async (prepared) => {
        await ask(prepared, "CREATE TABLE prepared (one integer)");
      });
      url = await server.createDatabase();
      await ask(url, "INSERT INTO prepared VALUES (1)");
      expect(await ask(url, "SELECT one FROM prepared")).toEqual([{ one: 1 }]);
      expect(await ask(await server.createDatabase(), "SELECT one FROM prepared")).toEqual([]);
    }
    await expectGone(url);
  });

  test("it ends also when preparing fails", async () => {
    let url = "";
    const starting = startPostgres(async (prepared) => {
      url = prepared;
      await ask(prepared, "no statement");
    });
    await expect(starting).rejects.toThrow(/syntax error/);
    await expectGone(url);
  });
});

async function expectGone(url: string): Promise<void> {
  await expect(ask(url, "SELECT 1")).rejects.toThrow();
  const folder = new URL(url).searchParams.get("host");
  if (folder !== null) expect(existsSync(folder)).toBe(false);
}

async function ask(url: string, statement: string): Promise<object[]> {
  const client = new Client({ connectionString: url });
  try {
    await client.connect();
    return (await client.query<object>(statement)).rows;
  } finally {
    await client.end();
  }
}
