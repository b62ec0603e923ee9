import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { probePostgres, startPostgres, type TestPostgres } from "../../../testing/start-postgres.ts";
import { untilRead } from "../../contract-texts.ts";
import type { Journal, Lease } from "../../journal.ts";
import { sampleConversation, sampleEvent, sampleId } from "../../sample-events.ts";
import { openPostgresJournal } from "../postgres-journal.ts";

const probe = probePostgres();
const onFailure = (error: unknown): void => console.error(error);
const count = 1300;
/** Users and agents have 650 messages each, and a block has 32. */
const blockCount = 2 * Math.ceil(650 / 32);

describe.skipIf(!probe.isUsable)(`blocks need PostgreSQL (${probe.detail})`, () => {
  let server: TestPostgres;
  let url: string;
  let journal: Journal;
  let lease: Lease;
  beforeAll(async () => {
    server = await startPostgres();
    url = await server.createDatabase();
    journal = await openPostgresJournal({ url, onFailure });
    lease = (await journal.createClaimed(sampleConversation("one")))!;
    for (let seq = 0; seq < count; seq += 100) {
      const events = Array.from({ length: 100 }, (_, index) => messageAt(seq + index + 1));
      await journal.append(lease, { expectedSeq: seq, events });
    }
    await untilRead(journal);
  }, 120_000);
  afterAll(async () => {
    await journal[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  test("P39: messages are found by their blocks, and the same as by looking through all of them", async () => {
    await expectAllFound();
  });

  test("blocks of logs that are deleted are removed by the next process, and no others", async () => {
    await ask(
      url,
      `INSERT INTO convoke.text_blocks
       SELECT 1000 + log, 1, block, block, 0, 0, '[]', '{1}' FROM generate_series(1, 1500) log, generate_series(1, 3) block`,
    );
    await using next = await openPostgresJournal({ url, onFailure });
    const left = `SELECT count(*)::integer AS blocks, count(*) FILTER (WHERE log > 1000)::integer AS "ofGone",
      (SELECT count(*)::integer FROM convoke.doomed) AS doomed FROM convoke.text_blocks`;
    await expect
      .poll(async () => (await ask(url, left))[0], { timeout: 240_000 })
      .toEqual({ blocks: blockCount, ofGone: 0, doomed: 0 });
    expect(await next.lastSeq("one")).toBe(count);
  });

  test("P39: messages that the index has not read are found too", async () => {
    await ask(
      url,
      `UPDATE convoke.text_logs SET read_seq = 383;
       DELETE FROM convoke.text_blocks WHERE first_seq > 383`,
    );
    await expectAllFound();
    await ask(url, "DELETE FROM convoke.text_logs; DELETE FROM convoke.text_blocks");
    await expectAllFound();
  });

  test("a block that is begun again has what it had, and what came behind it", async () => {
    const some =
      "SELECT class, first_seq, last_seq, entries, grams FROM convoke.text_blocks ORDER BY class, first_seq";
    await untilRead(journal);
    const whole = await ask(url, some);
    await ask(
      url,
      `DELETE FROM convoke.text_blocks WHERE first_seq > 1200;
       UPDATE convoke.text_logs SET read_seq = (SELECT max(last_seq) FROM convoke.text_blocks)`,
    );
    await untilRead(journal);
    expect(await ask(url, some)).toEqual(whole);
  });

  async function expectAllFound(): Promise<void> {
    for (const body of ["needle", "a needle 9", "step 1", "of 1007", "zq", "7"]) {
      for (const source of [undefined, "user", "agent"]) {
        const expected = Array.from({ length: count }, (_, index) => index + 1).filter(
          (seq) =>
            textOf(seq).toLowerCase().includes(body) && (source === undefined || source === sourceOf(seq)),
        );
        const filter = { body, ...(source === undefined ? {} : { source }) };
        expect(await journal.count(lease.conversationId, filter)).toBe(expected.length);
        for (const order of ["TIMESTAMP", "TIMESTAMP_DESC"] as const) {
          const inOrder = order === "TIMESTAMP" ? expected : expected.toReversed();
          const page = await journal.search(lease.conversationId, { ...filter, order, limit: 50 });
          const ids = page.items.map((json) => (JSON.parse(json) as { id: string }).id);
          expect(ids).toEqual(inOrder.slice(0, 50).map(sampleId));
          expect(page.nextPageId).toBe(inOrder.length > 50 ? sampleId(inOrder[50]!) : null);
        }
      }
    }
  }
});

function sourceOf(seq: number): string {
  return seq % 2 === 1 ? "user" : "agent";
}

function textOf(seq: number): string {
  return seq % 301 === 0 ? `a Needle ${seq}` : `step ${seq} of ${(seq * 7919) % 1009}`;
}

function messageAt(seq: number): ReturnType<typeof sampleEvent> {
  return sampleEvent(seq, { kind: "MessageEvent", source: sourceOf(seq), text: textOf(seq) });
}

async function ask(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  try {
    await client.connect();
    return (await client.query<Record<string, unknown>>(statement)).rows;
  } finally {
    await client.end();
  }
}
