import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { createConnection, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, test } from "vitest";
import { probePostgres, startPostgres, type TestPostgres } from "../../testing/start-postgres.ts";
import { JournalWriteError, type Journal, type Lease } from "../journal.ts";
import { sampleConversation, sampleEvent, sampleId } from "../sample-events.ts";
import { openPostgresJournal } from "./postgres-journal.ts";

const probe = probePostgres();
const onFailure = (error: unknown): void => console.error(error);
/** The relay stands at a socket, as the server that tests start does. */
const hasSocket = new URL(process.env["CONVOKE_TEST_DATABASE"] ?? "postgres:///?host=/").searchParams.has(
  "host",
);

describe.skipIf(!probe.isUsable)(`faults need PostgreSQL (${probe.detail})`, () => {
  let server: TestPostgres;
  let url: string;
  let journal: Journal;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    url = await server.createDatabase();
    journal = await openPostgresJournal({ url, onFailure });
  });
  afterEach(async () => {
    await journal[Symbol.asyncDispose]();
  });

  test.skipIf(!hasSocket).each([
    ["before it reaches the database", "before"],
    ["after the commit, before its answer", "after"],
    ["with the end of the request", "without-sync"],
  ] as const)("P7: an append whose connection is cut %s is written once and acknowledged", async (_, cut) => {
    await using relay = await startRelay(url);
    await using behind = await openPostgresJournal({ url: relay.url, onFailure });
    const leases = [await start(behind), await start(behind)];
    for (const lease of leases) await behind.append(lease, { expectedSeq: 0, events: [sampleEvent(1)] });
    relay.cutNext(cut);
    await Promise.all(
      leases.map((lease) =>
        behind.append(lease, {
          expectedSeq: 1,
          events: [sampleEvent(2), sampleEvent(3)],
          conversation: { title: cut },
        }),
      ),
    );
    expect(relay.cuts).toBe(1);
    for (const lease of leases) {
      await behind.append(lease, { expectedSeq: 3, events: [sampleEvent(4)] });
      const events = await behind.read(lease.conversationId, 0, 10);
      expect(events.map(({ seq, id }) => [seq, id])).toEqual([1, 2, 3, 4].map((seq) => [seq, sampleId(seq)]));
      expect(await behind.getConversation(lease.conversationId)).toMatchObject({ title: cut });
    }
  });

  test.skipIf(!hasSocket).each([
    ["before its events", "before", undefined],
    ["after its events", "after", undefined],
    ["before its commit", "before", "COMMIT"],
    ["after its commit", "after", "COMMIT"],
  ] as const)(
    "P18: a creation whose connection breaks %s is done once all the same",
    async (_, cut, word) => {
      await using relay = await startRelay(url);
      await using behind = await openPostgresJournal({ url: relay.url, onFailure });
      const id = randomUUID();
      const first = { expectedSeq: 0, events: [sampleEvent(1), sampleEvent(2)] };
      relay.cutNext(cut, word);
      const lease = await behind.createClaimed(sampleConversation(id), first);
      expect(relay.cuts).toBe(1);
      await behind.append(lease!, { expectedSeq: 2, events: [sampleEvent(3)] });
      const events = await behind.read(id, 0, 10);
      expect(events.map(({ seq }) => seq)).toEqual([1, 2, 3]);
      expect(await behind.createClaimed(sampleConversation(id), first)).toBeNull();
    },
  );

  test.each([
    ["the database refuses", (json: string) => ({ json: `${json.slice(0, -2)}\0"}` })],
    ["has no form there", () => ({ timestampMicros: 0.5 })],
  ])("a value that %s fails its own append, not those that go with it", async (_, change) => {
    const leases = [await start(journal), await start(journal), await start(journal)];
    const appends = leases.map((lease, index) => {
      const event = sampleEvent(1);
      return journal.append(lease, {
        expectedSeq: 0,
        events: [index === 1 ? { ...event, ...change(event.json) } : event],
      });
    });
    const results = await Promise.allSettled(appends);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(results[1]).toMatchObject({ reason: expect.any(JournalWriteError) });
    await journal.append(leases[1]!, { expectedSeq: 0, events: [sampleEvent(1)] });
    for (const { conversationId } of leases) expect(await journal.lastSeq(conversationId)).toBe(1);
  });

  test("NUL and halves of characters in titles and ids of clients are stored as what cannot be shown", async () => {
    const lease = await start(journal, { title: "a\0b" });
    const clientId = "c\0\ud800";
    await journal.append(lease, {
      expectedSeq: 0,
      events: [],
      conversation: { title: "x\ud800y\0", config: JSON.stringify({ workspace: { working_dir: "/w\0" } }) },
      inbox: { clientId, eventId: "event", digest: "digest" },
    });
    expect(await journal.getConversation(lease.conversationId)).toMatchObject({ title: "x\ufffdy\ufffd" });
    expect(await journal.getInboxEntry(lease.conversationId, clientId)).toEqual({
      eventId: "event",
      digest: "digest",
    });
    const found = await journal.searchSummaries({
      ownerId: "owner",
      limit: 5,
      workingDir: "/w\0",
      titleParts: ["\0"],
    });
    expect(found.items).toHaveLength(1);
  });

  test("places that were read are ordered by bytes, whatever the language of the database", async () => {
    const { conversationId: id } = await start(journal);
    const readAfter = async (readEventId: string): Promise<string | null | undefined> => {
      await journal.markConversation(id, { readEventId });
      return (await journal.getConversation(id))?.marks.readEventId;
    };
    const ordered = ["A", "_", "a", "b"];
    for (const place of ordered) expect(await readAfter(place)).toBe(place);
    for (const place of ordered) expect(await readAfter(place)).toBe("b");
  });

  test.each([
    [
      "changed, and still JSON",
      "UPDATE convoke.events SET json = replace(json, 'detail', 'detaiL') WHERE seq = 9",
    ],
    ["gone", "DELETE FROM convoke.events WHERE seq = 9"],
    [
      "moved over another",
      "UPDATE convoke.events SET json = (SELECT json FROM convoke.events WHERE seq = 10) WHERE seq = 9",
    ],
  ])("P7, F5: an event that is %s has a stand-in in its place, and hides no other", async (_, change) => {
    const lease = await start(journal);
    const events = Array.from({ length: 40 }, (__, index) => sampleEvent(index + 1));
    await journal.append(lease, { expectedSeq: 0, events });
    await ask(url, change);
    const { conversationId } = lease;
    const read = await journal.read(conversationId, 0, 100);
    expect(read.map(({ seq }) => seq)).toEqual(events.map((__, index) => index + 1));
    expect(read.filter(({ json }) => json === "").map(({ seq }) => seq)).toEqual([9]);
    const [damaged] = await journal.getEvents(conversationId, [read[8]!.id]);
    expect(damaged).toMatchObject({ seq: 9, json: "" });
    for (const order of ["TIMESTAMP", "TIMESTAMP_DESC"] as const) {
      const items: string[] = [];
      for (let pageId: string | null | undefined; pageId !== null;) {
        const page = await journal.search(conversationId, {
          order,
          limit: 8,
          ...(pageId === undefined ? {} : { pageId }),
        });
        items.push(...page.items);
        pageId = page.nextPageId;
      }
      expect(items).toHaveLength(40);
      expect(items.map((json) => json.includes('"EventDamaged"')).indexOf(true)).toBe(
        order === "TIMESTAMP" ? 8 : 31,
      );
    }
  });

  test("the log of a deleted conversation is removed, also by the next process", async () => {
    const [first, second] = [await start(journal), await start(journal)];
    const events = Array.from({ length: 6000 }, (_, index) => sampleEvent(index + 1, { text: "text" }));
    for (const lease of [first, second]) await journal.append(lease, { expectedSeq: 0, events });
    await journal.deleteConversation(first);
    await journal.deleteConversation(second);
    await journal[Symbol.asyncDispose]();
    journal = await openPostgresJournal({ url, onFailure });
    const left =
      "SELECT (SELECT count(*) FROM convoke.events) + (SELECT count(*) FROM convoke.doomed) AS rows";
    await expect.poll(async () => (await ask(url, left))[0]).toEqual({ rows: "0" });
  });
});

async function start(
  journal: Journal,
  changes: Parameters<typeof sampleConversation>[1] = {},
): Promise<Lease> {
  return (await journal.createClaimed(sampleConversation(randomUUID(), changes)))!;
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

type Cut = "before" | "after" | "without-sync";
type Relay = AsyncDisposable & {
  readonly url: string;
  readonly cuts: number;
  /** Cuts the connection of the next group of appends, or of the next request with another word. */
  cutNext(cut: Cut, word?: string): void;
};

/** Stands between the journal and the socket of the database, and knows appends by the name of their statement. */
async function startRelay(target: string): Promise<Relay> {
  const folder = mkdtempSync(join(tmpdir(), "convoke-relay-"));
  const socketName = ".s.PGSQL.5432";
  const targetPath = join(new URL(target).searchParams.get("host")!, socketName);
  const sockets = new Set<Socket>();
  let next: Cut | null = null;
  let nextWord = "";
  let cuts = 0;
  const relay = createServer((client) => {
    const upstream = createConnection(targetPath);
    const close = (): void => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      // Either side breaks off when it likes.
      socket.on("error", close).on("close", close);
    }
    let isCuttingAnswer = false;
    client.on("data", (data) => {
      const cut = next !== null && data.includes(nextWord) ? next : null;
      if (cut === null) return void upstream.write(data);
      next = null;
      cuts += 1;
      if (cut === "before") return close();
      isCuttingAnswer = cut === "after";
      // The last message of a request is five bytes long.
      upstream.write(cut === "after" ? data : data.subarray(0, -5));
      if (cut === "without-sync") upstream.end(() => client.destroy());
    });
    upstream.on("data", (data) => {
      if (isCuttingAnswer) close();
      else client.write(data);
    });
  });
  await new Promise<void>((resolve) => relay.listen(join(folder, socketName), resolve));
  const url = new URL(target);
  url.searchParams.set("host", folder);
  return {
    url: url.href,
    get cuts() {
      return cuts;
    },
    cutNext: (cut, word = "\0append") => {
      [next, nextWord] = [cut, word];
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => relay.close(resolve));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
