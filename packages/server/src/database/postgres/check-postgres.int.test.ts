import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startPoolingRelay } from "../../testing/pooling-relay.ts";
import { probePostgres, startPostgres, type TestPostgres } from "../../testing/start-postgres.ts";
import { inspectPostgres } from "./check-postgres.ts";

const probe = probePostgres();
/** The relay stands at a socket, as the server that tests start does. */
const isUsable = probe.isUsable && process.env["CONVOKE_TEST_DATABASE"] === undefined;

describe.skipIf(!isUsable)(`a look at a database (${probe.detail})`, { timeout: 120_000 }, () => {
  let postgres: TestPostgres;
  let url: string;
  beforeAll(async () => {
    postgres = await startPostgres();
    url = await postgres.createDatabase();
  });
  afterAll(async () => {
    await postgres?.[Symbol.asyncDispose]();
  });

  const check = async (place: {
    readonly url: string;
    readonly listenUrl?: string | null;
  }): Promise<string> => (await inspectPostgres({ ...place, nodeAddress: null })).warnings.join();

  test("the database itself, and a pooler that keeps sessions, are fine", async () => {
    expect(await check({ url })).not.toContain("pooler");
    await using pooler = await startPoolingRelay(url, true);
    expect(await check({ url: pooler.url })).not.toContain("pooler");
  });

  test("a pooler through which no notification comes is named, unless there is another way or none is wanted", async () => {
    await using pooler = await startPoolingRelay(url, false);
    expect(await check({ url: pooler.url })).toContain("CONVOKE_DATABASE_LISTEN");
    expect(await check({ url: pooler.url, listenUrl: url })).not.toContain("pooler");
    expect(await check({ url: pooler.url, listenUrl: null })).not.toContain("pooler");
  });
});
