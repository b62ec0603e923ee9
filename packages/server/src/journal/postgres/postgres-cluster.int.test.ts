import { randomUUID } from "node:crypto";
import { Client, type Pool } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { declareEnded } from "../../cluster/node-heartbeat.ts";
import { PostgresNode } from "../../cluster/postgres-node.ts";
import { ConfigError } from "../../lib/config-error.ts";
import { probePostgres, startPostgres, type TestPostgres } from "../../testing/start-postgres.ts";
import { follow } from "../follow.ts";
import { LeaseHeldError, LeaseLostError } from "../journal.ts";
import { sampleConversation, sampleEvent } from "../sample-events.ts";
import { openPostgresJournal } from "./postgres-journal.ts";

const probe = probePostgres();
/** So that six looks do not take six seconds. */
const heartbeatMs = 200;
/** Nothing of it is expected here; where it is, it is no matter of the test. */
const onFailure = (error: unknown): void => console.error(error);

describe.skipIf(!probe.isUsable)(`several nodes need PostgreSQL (${probe.detail})`, () => {
  let server: TestPostgres;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
  });

  test("P27: a living node keeps its conversation, a closed one gives it up at once", async () => {
    const url = await server.createDatabase();
    await using first = await openPostgresJournal({ url, heartbeatMs, onFailure });
    await using second = await openPostgresJournal({ url, heartbeatMs, onFailure });
    const id = randomUUID();
    const lease = await first.createClaimed(sampleConversation(id, { isActive: true }));
    await first.append(lease!, { expectedSeq: 0, events: [sampleEvent(1)] });
    const refusal = await second.claim(id).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(LeaseHeldError);
    expect(refusal).toMatchObject({ holder: first.nodeId });
    expect(await second.claimMany([id])).toMatchObject([{ name: "LeaseHeldError", holder: first.nodeId }]);
    // Who lives is known here: nobody has to try.
    expect(await second.listActiveElsewhere()).toEqual([]);
    const { nodeId } = first;
    await first[Symbol.asyncDispose]();
    expect(await second.listActiveElsewhere()).toEqual([{ id, nodeId }]);
    const taken = await second.claim(id);
    expect(taken.generation).toBe(2);
    await second.append(taken, { expectedSeq: 1, events: [sampleEvent(2)] });
    expect(await second.lastSeq(id)).toBe(2);
  });

  test("P27: of two nodes that claim the same ones at once, each gets its own, and nobody waits for what is being written to", async () => {
    const url = await server.createDatabase();
    await using first = await openPostgresJournal({ url, heartbeatMs, onFailure });
    await using second = await openPostgresJournal({ url, heartbeatMs, onFailure });
    const ids = Array.from({ length: 40 }, () => randomUUID());
    for (const id of ids) await first.createConversation(sampleConversation(id));
    const writing = new Client({ connectionString: url });
    await writing.connect();
    await writing.query("BEGIN");
    const locked =
      "SELECT FROM convoke.heads JOIN convoke.conversations USING (number) WHERE id = $1 FOR UPDATE";
    await writing.query(locked, [ids[0]]);
    const claims = await Promise.all([first.claimMany(ids), second.claimMany(ids.toReversed())]);
    await writing.end();
    expect([claims[0][0], claims[1].at(-1)]).toEqual([null, null]);
    const leases = claims
      .flat()
      .flatMap((claim) => (claim === null || claim instanceof LeaseHeldError ? [] : [claim]));
    expect(leases).toHaveLength(ids.length - 1);
    expect(new Set(leases.map(({ conversationId }) => conversationId))).toEqual(new Set(ids.slice(1)));
    expect(new Set(leases.map(({ generation }) => generation))).toEqual(new Set([1]));
  });

  test("the generation grows with each claim, whoever claims, and an older lease never writes again", async () => {
    const url = await server.createDatabase();
    await using first = await openPostgresJournal({ url, heartbeatMs, onFailure });
    await using second = await openPostgresJournal({ url, heartbeatMs, onFailure });
    const id = randomUUID();
    await first.createConversation(sampleConversation(id));
    const generations: number[] = [];
    for (const journal of [first, second, second, first, second]) {
      const lease = await journal.claim(id);
      generations.push(lease.generation);
      await journal.release(lease);
      const late = journal.append(lease, { expectedSeq: 0, events: [sampleEvent(1)] });
      await expect(late).rejects.toThrow(LeaseLostError);
    }
    expect(generations).toEqual([1, 2, 3, 4, 5]);
  });

  test("P28: what a node without heartbeats owns is free after a few polls, and its lease is fenced", async () => {
    const url = await server.createDatabase();
    await using owner = await openPostgresJournal({ url, heartbeatMs: 3_600_000, onFailure });
    await using other = await openPostgresJournal({ url, heartbeatMs, onFailure });
    const id = randomUUID();
    const lease = (await owner.createClaimed(sampleConversation(id)))!;
    await expect(other.claim(id)).rejects.toThrow(LeaseHeldError);
    await expect.poll(() => other.claim(id).catch(() => null), { interval: 50 }).not.toBeNull();
    await expect(owner.append(lease, { expectedSeq: 0, events: [sampleEvent(1)] })).rejects.toThrow(
      LeaseLostError,
    );
  });

  test("P27: who waits to be sound goes on once a heartbeat has arrived, and after those who are told that all was lost, whoever of them fails", async () => {
    const url = await server.createDatabase();
    const failures: unknown[] = [];
    await using node = await PostgresNode.open({
      url,
      heartbeatMs,
      onFailure: (error) => failures.push(error),
    });
    const { signal } = new AbortController();
    const order: string[] = [];
    const full = new Error("The disk is full");
    node.heartbeat.onFenced(() => {
      throw full;
    });
    node.heartbeat.onFenced(() => void Promise.resolve().then(() => order.push("given up")));
    // At once while it is known; what is aborted waits for nothing.
    await node.heartbeat.untilSound(signal);
    const stranger = new Client({ connectionString: url });
    await stranger.connect();
    await stranger.query("BEGIN");
    await stranger.query("UPDATE convoke.nodes SET dead_at = clock_timestamp()");
    await expect.poll(() => node.heartbeat.isSound, { interval: 20 }).toBe(false);
    await node.heartbeat.untilSound(AbortSignal.abort());
    const goesOn = node.heartbeat.untilSound(signal).then(() => order.push("goes on"));
    expect(order).toEqual([]);
    await stranger.query("COMMIT");
    await goesOn;
    await stranger.end();
    expect(order).toEqual(["given up", "goes on"]);
    expect(failures).toContain(full);
    expect(node.heartbeat.isSound).toBe(true);
  });

  test("P28: that a node is gone is told once it has ended, and once it is declared dead", async () => {
    const url = await server.createDatabase();
    await using node = await PostgresNode.open({ url, heartbeatMs, onFailure });
    let goneCount = 0;
    const stop = node.heartbeat.onGone(() => (goneCount += 1));
    await expect.poll(() => node.heartbeat.hasOtherNodes).toBe(false);
    const ended = await PostgresNode.open({ url, heartbeatMs, onFailure });
    await expect.poll(() => node.heartbeat.hasOtherNodes).toBe(true);
    expect(goneCount).toBe(0);
    await ended[Symbol.asyncDispose]();
    await expect.poll(() => goneCount).toBe(1);
    await using silent = await PostgresNode.open({ url, heartbeatMs: 3_600_000, onFailure });
    // Told as it is declared, and again as it is missed.
    await expect.poll(() => goneCount, { timeout: 10_000 }).toBe(3);
    expect((await node.pool.query("SELECT id FROM convoke.nodes WHERE dead_at IS NULL")).rows).toEqual([
      { id: node.heartbeat.nodeId },
    ]);
    expect(silent.heartbeat.nodeId).not.toBe(node.heartbeat.nodeId);
    stop();
  });

  test("P28: what a dead node still locks is let go when it is declared dead", async () => {
    const url = await server.createDatabase();
    await using journal = await openPostgresJournal({ url, heartbeatMs, onFailure });
    const id = randomUUID();
    await journal.createConversation(sampleConversation(id));
    const stuck = new Client({ connectionString: url, application_name: "convoke stuck write" });
    const ended = new Promise((resolve) => stuck.once("end", resolve));
    // It is ended from the other side, which is what is awaited here.
    stuck.on("error", () => {});
    await stuck.connect();
    await stuck.query("INSERT INTO convoke.nodes (id) VALUES ('stuck')");
    await stuck.query("UPDATE convoke.heads SET node_id = 'stuck', generation = 7");
    await stuck.query("BEGIN");
    await stuck.query("UPDATE convoke.heads SET last_seq = 1");
    await ended;
    await expect
      .poll(() => journal.claim(id).catch(() => null), { interval: 50 })
      .toMatchObject({ generation: 8 });
    expect(await journal.lastSeq(id)).toBe(0);
  });

  test("P27: a node that was declared dead loses its leases, takes a new name and goes on", async () => {
    const url = await server.createDatabase();
    await using journal = await openPostgresJournal({ url, heartbeatMs, onFailure });
    const before = journal.nodeId;
    const id = randomUUID();
    await journal.createClaimed(sampleConversation(id));
    await ask(url, "UPDATE convoke.nodes SET dead_at = now()");
    await expect.poll(() => journal.nodeId).not.toBe(before);
    const lease = await journal.claim(id);
    await journal.append(lease, { expectedSeq: 0, events: [sampleEvent(1)] });
    expect(lease.generation).toBe(2);
  });

  test.each([
    ["with notifications", undefined],
    ["without them, by looking", null],
  ])("P1: who follows on one node gets what another appends, each event once, %s", async (_, listenUrl) => {
    const url = await server.createDatabase();
    const listening =
      listenUrl === null ? { url, heartbeatMs, listenUrl, onFailure } : { url, heartbeatMs, onFailure };
    await using writer = await openPostgresJournal(listening);
    await using reader = await openPostgresJournal(listening);
    const id = randomUUID();
    const lease = (await writer.createClaimed(sampleConversation(id)))!;
    const ending = new AbortController();
    const seqs: number[] = [];
    const following = (async (): Promise<void> => {
      for await (const events of follow(reader, id, { afterSeq: 0, signal: ending.signal })) {
        seqs.push(...events.map(({ seq }) => seq));
        if (seqs.length === 30) ending.abort();
      }
    })();
    for (let seq = 1; seq <= 30; seq += 1) {
      await writer.append(lease, { expectedSeq: seq - 1, events: [sampleEvent(seq)] });
      // The last ones come when the reader waits.
      if (seq === 20) await expect.poll(() => seqs.length).toBe(20);
    }
    await following;
    expect(seqs).toEqual(Array.from({ length: 30 }, (__, index) => index + 1));
  });

  test("a dead node's statements are let go in its own database, and in no copy of it", async () => {
    const [url, copy] = [await server.createDatabase(), await server.createDatabase()];
    await using own = await PostgresNode.open({ url, heartbeatMs, onFailure });
    await using other = await PostgresNode.open({ url: copy, heartbeatMs, onFailure });
    const id = randomUUID();
    const busy = new Client({ connectionString: url, application_name: `convoke ${id} writer` });
    await busy.connect();
    const slept = busy.query("SELECT pg_sleep(1) AS slept").then(
      () => "slept",
      () => "ended",
    );
    await declareEnded(other.pool, id);
    expect(await slept).toBe("slept");
    busy.on("error", () => {});
    const cut = busy.query("SELECT pg_sleep(20)").catch(() => "ended");
    await expect.poll(async () => await isAsleep(own.pool, id)).toBe(true);
    await declareEnded(own.pool, id);
    expect(await cut).toBe("ended");
  });

  test("several processes that begin together make the tables once", async () => {
    const url = await server.createDatabase();
    const journals = await Promise.all(
      [1, 2, 3, 4].map(() => openPostgresJournal({ url, heartbeatMs, onFailure })),
    );
    expect(new Set(journals.map(({ nodeId }) => nodeId)).size).toBe(4);
    for (const journal of journals) await journal[Symbol.asyncDispose]();
  });

  test("tables of a newer version are used, unless it says that this one must not", async () => {
    const url = await server.createDatabase();
    await using journal = await openPostgresJournal({ url, heartbeatMs, onFailure });
    await ask(url, "UPDATE convoke.parts SET version = 99 WHERE name = 'journal'");
    const beside = await openPostgresJournal({ url, heartbeatMs, onFailure });
    await beside[Symbol.asyncDispose]();
    await ask(url, "UPDATE convoke.parts SET oldest = 98 WHERE name = 'journal'");
    await expect(openPostgresJournal({ url, heartbeatMs, onFailure })).rejects.toThrow(ConfigError);
    expect(await journal.lastSeq(randomUUID())).toBe(0);
  });
});

async function isAsleep(pool: Pool, nodeId: string): Promise<boolean> {
  const { rows } = await pool.query(
    "SELECT FROM pg_stat_activity WHERE application_name LIKE $1 || '%' AND state = 'active'",
    [`convoke ${nodeId}`],
  );
  return rows.length > 0;
}

async function ask(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url });
  try {
    await client.connect();
    await client.query(statement);
  } finally {
    await client.end();
  }
}
