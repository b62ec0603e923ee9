import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DatabaseUnavailableError } from "../lib/database-unavailable.ts";
import { openDatabaseLine, type DatabaseLine } from "../testing/database-line.ts";
import { probePostgres, startPostgres, type TestPostgres } from "../testing/start-postgres.ts";
import { PostgresLeases } from "./postgres-leases.ts";
import { PostgresNode } from "./postgres-node.ts";

const probe = probePostgres();

// The line stands at the socket of a server of ours.
describe.skipIf(!probe.isUsable || probe.isGiven)(`leases need PostgreSQL (${probe.detail})`, () => {
  let server: TestPostgres;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
  });

  test("P27: after a take or release that was not acknowledged the lease is free for its own process; one in use is not", async () => {
    const url = await server.createDatabase();
    await using line = await openDatabaseLine(url);
    await using node = await PostgresNode.open({ url: line.url, onFailure: () => {} });
    await using direct = await openDirect(url);
    const leases = new PostgresLeases(node);
    const arrived = (holders: number) => async (): Promise<boolean> =>
      (await direct.client.query("SELECT FROM convoke.named_leases")).rowCount === holders;

    await cutAnswer(line, leases.take("job"), arrived(1));
    const lease = (await leases.take("job"))!;
    expect(await leases.take("job")).toBeNull();
    await cutAnswer(line, lease[Symbol.asyncDispose](), arrived(0));
    await using again = await leases.take("job");
    expect(again?.isHeld()).toBe(true);
  });

  test("P27: a process can take a lease again that it could not release", async () => {
    const url = await server.createDatabase();
    await using node = await PostgresNode.open({ url, onFailure: () => {} });
    await using locking = await openDirect(url);
    await using ending = await openDirect(url);
    const leases = new PostgresLeases(node);
    const lease = (await leases.take("job"))!;
    await locking.client.query("BEGIN");
    await locking.client.query("SELECT FROM convoke.named_leases FOR UPDATE");
    const given = Promise.resolve(lease[Symbol.asyncDispose]()).catch((error: unknown) => error);
    const endWaiting = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    await expect.poll(async () => (await ending.client.query(endWaiting)).rowCount).toBe(1);
    expect(await given).toBeInstanceOf(DatabaseUnavailableError);
    await locking.client.query("ROLLBACK");
    await using again = await leases.take("job");
    expect(again?.isHeld()).toBe(true);
  });
});

/** The statement is carried out, but its acknowledgement is lost. */
async function cutAnswer(line: DatabaseLine, asked: PromiseLike<unknown>, isDone: () => Promise<boolean>) {
  line.set("deafen");
  const answer = Promise.resolve(asked).catch((error: unknown) => error);
  await expect.poll(isDone).toBe(true);
  line.set("pass");
  expect(await answer).toBeInstanceOf(DatabaseUnavailableError);
}

async function openDirect(url: string): Promise<AsyncDisposable & { readonly client: Client }> {
  const client = new Client({ connectionString: url });
  await client.connect();
  return { client, [Symbol.asyncDispose]: () => client.end() };
}
