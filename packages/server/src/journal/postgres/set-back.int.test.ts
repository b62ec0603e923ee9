import { randomUUID } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openPool } from "../../database/postgres/postgres-pool.ts";
import { Timeline } from "../../database/postgres/timeline.ts";
import { DatabaseUnavailableError } from "../../lib/database-unavailable.ts";
import { openDatabaseLine } from "../../testing/database-line.ts";
import {
  probePostgres,
  standbySettings,
  startPostgres,
  type TestPostgres,
} from "../../testing/start-postgres.ts";
import { LeaseLostError, type Lease, type LostEvents } from "../journal.ts";
import { sampleConversation, sampleEvent, sampleId } from "../sample-events.ts";
import { openPostgresJournal } from "./postgres-journal.ts";

const probe = probePostgres();
const isPossible = probe.isUsable && !probe.isGiven;

describe.skipIf(!isPossible)(`a standby needs a PostgreSQL of its own (${probe.detail})`, () => {
  let postgres: TestPostgres;
  beforeAll(async () => {
    postgres = await startPostgres(undefined, undefined, standbySettings);
  });
  afterAll(async () => {
    await postgres[Symbol.asyncDispose]();
  });

  test("a standby that lacks the last commits: what is lost is told before anything is read, and nothing old stays", async () => {
    const url = await postgres.createDatabase();
    await using journal = await openPostgresJournal({ url, onFailure: () => {} });
    const losses: (readonly LostEvents[])[] = [];
    journal.onSetBack((lost) => losses.push(lost));
    const [intact, shortened, gone] = [randomUUID(), randomUUID(), randomUUID()];
    const begin = async (id: string) => (await journal.createClaimed(sampleConversation(id)))!;
    const leases = [await begin(intact), await begin(shortened)];
    for (const lease of leases) await journal.append(lease, { expectedSeq: 0, events: [sampleEvent(1)] });
    await using line = await openDatabaseLine(postgres.url);
    await postgres.addStandby(line.url, []);
    const stop = journal.onAppend(shortened, () => {});
    line.set("hold");
    const late = await begin(gone);
    await journal.append(late, { expectedSeq: 0, events: [sampleEvent(1)] });
    await journal.append(leases[1]!, { expectedSeq: 1, events: [sampleEvent(2)] });
    expect(await journal.read(shortened, 1, 10)).toHaveLength(1);
    expect(losses).toEqual([]);
    await postgres.failOver();

    // Whichever connection comes first.
    await expect.poll(() => journal.lastSeq(intact).catch(() => null)).toBe(1);
    expect(losses).toEqual([
      expect.arrayContaining([
        { conversationId: shortened, acknowledgedSeq: 2, lastEventId: sampleId(2), storedSeq: 1 },
        { conversationId: gone, acknowledgedSeq: 1, lastEventId: sampleId(1), storedSeq: 0 },
      ]),
    ]);
    expect(losses[0]).toHaveLength(2);
    expect(await journal.read(shortened, 1, 10)).toEqual([]);
    // Who has lost nothing goes on; what is loaded again begins behind what is there.
    await journal.append(leases[0]!, { expectedSeq: 1, events: [sampleEvent(2)] });
    const again = await journal.claim(shortened);
    await journal.append(again, { expectedSeq: 1, events: [sampleEvent(3)] });
    expect((await journal.read(shortened, 0, 10)).map(({ id }) => id)).toEqual([sampleId(1), sampleId(3)]);
    stop();
  });

  test("P7: what is written first after a fail-over is taken, although the numbers of its classes are forgotten by then", async () => {
    const url = await postgres.createDatabase();
    // Its heartbeat would be first.
    await using journal = await openPostgresJournal({ url, heartbeatMs: 600_000, onFailure: () => {} });
    const first = { expectedSeq: 0, events: [sampleEvent(1)] };
    const lease = (await journal.createClaimed(sampleConversation(randomUUID()), first))!;
    await postgres.addStandby(postgres.url, []);
    await postgres.failOver();
    await journal.append(lease, { expectedSeq: 1, events: [sampleEvent(2)] });
    await postgres.addStandby(postgres.url, []);
    await postgres.failOver();
    const id = randomUUID();
    expect(await journal.createClaimed(sampleConversation(id), first)).toMatchObject({ conversationId: id });
    expect(await journal.lastSeq(id)).toBe(1);
  });

  test("P27: who owned a conversation that is gone gives up nothing of the one that has its number now", async () => {
    const url = await postgres.createDatabase();
    await using journal = await openPostgresJournal({ url, onFailure: () => {} });
    const begin = async () => (await journal.createClaimed(sampleConversation(randomUUID())))!;
    await begin();
    await using line = await openDatabaseLine(postgres.url);
    await postgres.addStandby(line.url, []);
    line.set("hold");
    // More than the database sets aside of its numbers.
    const gone: Lease[] = [];
    for (let made = 0; made < 80; made += 1) gone.push(await begin());
    await postgres.failOver();
    await expect.poll(() => journal.getConversation(gone[0]!.conversationId).catch(() => "away")).toBeNull();
    const fresh = await begin();
    for (const lease of gone) await journal.release(lease);
    await journal.append(fresh, { expectedSeq: 0, events: [sampleEvent(1)] });
    for (const lease of gone) {
      const append = journal.append(lease, { expectedSeq: 1, events: [sampleEvent(2)] });
      await expect(append).rejects.toThrow(LeaseLostError);
    }
    expect(await journal.lastSeq(fresh.conversationId)).toBe(1);
  });

  test("P28: a standby that has not taken over is asked nothing, not even what only reads", async () => {
    const url = await postgres.createDatabase();
    await postgres.addStandby(postgres.url, []);
    const folder = new URL(url).searchParams.get("host")!;
    const numbers = readdirSync(folder).map((name) => Number(name.replace(/^standby/, "")));
    const newest = Math.max(...numbers.filter(Number.isInteger));
    const standby = new URL(url);
    standby.searchParams.set("host", join(folder, `standby${newest}`));
    const pool = openPool({ url: standby.href, name: "test", size: 1, timeline: new Timeline() }, () => {});
    try {
      await expect(pool.query("SELECT 1")).rejects.toThrow(DatabaseUnavailableError);
      await postgres.failOver();
      expect((await pool.query("SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
    } finally {
      await pool.end();
    }
  });
});
