import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { inspectPostgres } from "../database/postgres/check-postgres.ts";
import { startPgbouncer, whyNoPgbouncer, type TestPgbouncer } from "../testing/start-pgbouncer.ts";
import { probePostgres, startPostgres, type TestPostgres } from "../testing/start-postgres.ts";
import { startTestServer, type TestServer } from "../testing/start-server.ts";
import { TestSocket } from "../testing/test-socket.ts";

const probe = probePostgres();
const detail = probe.isUsable ? (whyNoPgbouncer() ?? "pgbouncer") : probe.detail;
const isUsable = probe.isUsable && !probe.isGiven && whyNoPgbouncer() === null;
const longMs = 60_000;

describe.skipIf(!isUsable)(`servers behind a pooler (${detail})`, { timeout: 300_000 }, () => {
  let postgres: TestPostgres;
  let pooler: TestPgbouncer;
  let direct = "";
  beforeAll(async () => {
    postgres = await startPostgres();
    direct = await postgres.createDatabase();
    pooler = await startPgbouncer(direct);
  });
  afterAll(async () => {
    await pooler?.[Symbol.asyncDispose]();
    await postgres?.[Symbol.asyncDispose]();
  });

  const start = async (config: object = {}): Promise<TestServer> =>
    await startTestServer({
      script: { turns: [{ text: "Found it." }], loop: true },
      config: {
        database: { url: pooler.url, listenUrl: direct, nodeAddress: null },
        masterSecret: "the secret of all servers",
        ...config,
      },
    });

  test("transaction mode is detected, and the second address for notifications is required", async () => {
    const place = { url: pooler.url, nodeAddress: null };
    expect((await inspectPostgres(place)).warnings.join()).toContain("CONVOKE_DATABASE_LISTEN");
    expect((await inspectPostgres({ ...place, listenUrl: direct })).warnings.join()).not.toContain("pooler");
  });

  test("three servers start together on a new database, and leave no session lock behind", async () => {
    for (let round = 0; round < 4; round += 1) {
      const url = await postgres.createDatabase();
      await using fresh = await startPgbouncer(url);
      const database = { url: fresh.url, listenUrl: url, nodeAddress: null };
      await using scope = new AsyncDisposableStack();
      for (const started of await Promise.all([1, 2, 3].map(() => start({ database })))) scope.use(started);
      scope.use(await start({ database }));
      expect(await askOf(url, "SELECT FROM pg_locks WHERE locktype = 'advisory'")).toEqual([]);
    }
  });

  test("a server starts although another release has left a session lock in the pooler", async () => {
    await using first = await start();
    await first.close();
    const holder = new Client({ connectionString: direct });
    await holder.connect();
    // The number is Kysely's own.
    await holder.query("SELECT pg_advisory_lock(3853314791062309107)");
    await using second = await start();
    expect((await second.call("GET", "/api/conversations/count")).status).toBe(200);
    await holder.end();
  });

  test("without notifications no session of the pooler is left listening", async () => {
    const url = await postgres.createDatabase();
    await using fresh = await startPgbouncer(url);
    await using server = await start({ database: { url: fresh.url, nodeAddress: null } });
    const socket = new TestSocket(
      `${server.url}/sockets/events/${(await server.createConversation({ text: "Look." })).id}`,
      { headers: { "x-session-api-key": server.key } },
    );
    await socket.until(() => socket.frames.length > 0, longMs);
    socket[Symbol.dispose]();
    // At the same time, so that each session of the pooler answers.
    const all = Array.from({ length: 8 }, () =>
      askOf(fresh.url, "SELECT pg_listening_channels() FROM pg_sleep(1)"),
    );
    const listening = (await Promise.all(all)).flat();
    expect(listening).toEqual([]);
  });

  test("P1, P27: twenty conversations run through it, and another server follows each without a gap", async () => {
    await using one = await start();
    await using other = await start({ workspaceRoot: one.workspaceDir });
    const ids = await Promise.all(
      Array.from({ length: 20 }, async () => (await one.createConversation({ text: "Look." })).id),
    );
    for (const id of ids) {
      const headers = { "x-session-api-key": other.key };
      using socket = new TestSocket(`${other.url}/sockets/events/${id}?resend_mode=all`, { headers });
      await one.waitForStatus(id, "finished", longMs);
      const stored = await one.eventTexts(id);
      const followed = (): string[] => socket.frames.filter((frame) => !frame.includes('"full_state"'));
      await socket.until(() => followed().length >= stored.length, longMs);
      expect(followed()).toEqual(stored);
      expect(await other.eventTexts(id)).toEqual(stored);
    }
  });
});

async function askOf(url: string, statement: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}
