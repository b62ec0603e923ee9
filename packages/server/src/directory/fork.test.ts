import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { LeaseHeldError, LeaseLostError } from "../journal/journal.ts";
import { openJournal } from "../journal/open-journal.ts";
import { formatInstant } from "../lib/instant.ts";
import { sampleConversation, sampleEvent } from "../journal/sample-events.ts";
import { startTestServer } from "../testing/start-server.ts";
import { loadState } from "../engine/state/load-state.ts";
import { forkConversation } from "./fork.ts";
import { unreadableConfig } from "../engine/read-config.ts";

test("P2: a fork that a crash cut off is gone after the next start, and nobody sees it before it is whole", async () => {
  await using server = await startTestServer({ script: { turns: [{ text: "Hello." }] } });
  const id = await server.runTo("finished", "hi");
  const source = await server.eventTexts(id);
  const fork = "55555555-5555-4555-8555-555555555555";
  await server.close();
  {
    await using journal = await openJournal({ dataDir: server.dataDir });
    const row = (await journal.getConversation(id))!;
    // What a process leaves that dies between two chunks.
    await journal.createConversation({ ...row, id: fork, isActive: true, isCopying: true });
  }
  await server.restart();
  expect((await server.call("GET", `/api/conversations/${fork}`)).status).toBe(404);
  expect((await server.client.searchConversations()).items.map((item) => item.id)).toEqual([id]);
  const again = await server.call("POST", `/api/conversations/${id}/fork`, { id: fork });
  expect(again.status, again.text).toBe(201);
  expect((await server.eventTexts(fork)).slice(0, source.length)).toEqual(source);
  expect(await server.eventTexts(id)).toEqual(source);
});

test.each(["removed", "owned"] as const)(
  "a fork that another server has %s while this one stood still is refused with 503, to be sent again",
  async (what) => {
    await using folder = await mkdtempDisposable(join(tmpdir(), "convoke-fork-"));
    await using journal = await openJournal({ dataDir: folder.path });
    await journal.createConversation(
      sampleConversation("source", { config: JSON.stringify(unreadableConfig) }),
    );
    await journal.append(await journal.claim("source"), { expectedSeq: 0, events: [sampleEvent(1)] });
    const row = (await journal.getConversation("source"))!;
    const [create, claim] = [journal.createConversation.bind(journal), journal.claim.bind(journal)];
    const deps = {
      clock: { nowMs: () => 1 },
      journal: Object.assign(journal, {
        createConversation: async (...given: Parameters<typeof create>) => {
          const isNew = await create(...given);
          if (what === "removed") await journal.deleteConversation(await claim("fork"));
          return isNew;
        },
        claim: async (id: string) => {
          if (what === "owned") throw new LeaseHeldError("Another server owns it.", "other");
          return await claim(id);
        },
      }),
    };
    const input = { id: "fork", title: null, tags: null, resetMetrics: false, fromEventId: null };
    const failed: unknown = await forkConversation(deps, row, input).catch((error: unknown) => error);
    // To clients: 503 owned_elsewhere, with Retry-After.
    expect(failed).toBeInstanceOf(LeaseLostError);
  },
);

test("a fork is copied in pieces, between which others write", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "convoke-fork-"));
  await using journal = await openJournal({ dataDir: folder.path });
  await journal.createConversation(
    sampleConversation("source", { config: JSON.stringify(unreadableConfig) }),
  );
  const lease = await journal.claim("source");
  const events = Array.from({ length: 1_203 }, (_, index) => {
    const event = sampleEvent(index + 1);
    const timestamp = formatInstant(event.timestampMicros);
    return { ...event, json: JSON.stringify({ ...(JSON.parse(event.json) as object), timestamp }) };
  });
  await journal.append(lease, { expectedSeq: 0, events });
  const sizes: number[] = [];
  const append = journal.append.bind(journal);
  const counted = Object.assign(journal, {
    append: async (...given: Parameters<typeof append>) => {
      sizes.push(given[1].events.length);
      await append(...given);
    },
  });
  const row = (await journal.getConversation("source"))!;
  const input = { id: "fork", title: null, tags: null, resetMetrics: false, fromEventId: null };
  expect(await forkConversation({ journal: counted, clock: { nowMs: () => 1 } }, row, input)).toBe(true);
  expect(sizes.slice(0, 3)).toEqual([500, 500, 203]);
  const both = await Promise.all(["source", "fork"].map((id) => journal.read(id, 0, 2_000)));
  expect(both[1]!.slice(0, 1_203).map(({ json }) => json)).toEqual(both[0]!.map(({ json }) => json));
  const fork = (await journal.getConversation("fork"))!;
  expect(fork.snapshotSeq).toBe(1_203);
  expect(await loadState(journal, fork)).toEqual(await loadState(journal, { ...fork, snapshot: null }));
});
