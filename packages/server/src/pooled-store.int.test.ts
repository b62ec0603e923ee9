import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { lookAtPostgres } from "./database/postgres/check-postgres.ts";
import { startPgbouncer, whyNoPgbouncer, type TestPgbouncer } from "./testing/start-pgbouncer.ts";
import { probePostgres, startPostgres, type TestPostgres } from "./testing/start-postgres.ts";
import { startTestServer, type TestServer } from "./testing/start-server.ts";
import { TestSocket } from "./testing/test-socket.ts";

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

  test("in transaction mode it is known for one, and the second address for notifications is asked for", async () => {
    const place = { url: pooler.url, nodeAddress: null };
    expect((await lookAtPostgres(place)).warnings.join()).toContain("CONVOKE_DATABASE_LISTEN");
    expect((await lookAtPostgres({ ...place, listenUrl: direct })).warnings.join()).not.toContain("pooler");
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
