import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { viewKinds } from "../agent/history.ts";
import { JournalWriteError, type Journal } from "../journal/journal.ts";
import { DatabaseUnavailableError } from "../lib/database-unavailable.ts";
import { withMethods } from "../testing/with-methods.ts";
import { startTestServer, type TestServer } from "../testing/start-server.ts";
import { until } from "../testing/until.ts";

const runs = 70;
const script = { turns: [{ hang: true }] };

/** With so many runs, each of which waits for the model; their ids. */
async function beginRuns(server: TestServer, count: number): Promise<string[]> {
  const begun = await Promise.all(
    Array.from({ length: count }, () => server.createConversation({ text: "go" })),
  );
  await until(() => server.model.requests.length === count);
  return begun.map(({ id }) => id);
}

test("issue 12.1, P2: a server that starts again claims and reads its runs in batches, and resumes each once", async () => {
  const calls: string[] = [];
  let isCounted = false;
  const counted = (journal: Journal): Journal =>
    new Proxy(journal, {
      get: (target, name) => {
        if (isCounted) calls.push(String(name));
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === "function" ? (value.bind(target) as unknown) : value;
      },
    });
  await using server = await startTestServer({ script, wrapJournal: counted });
  const ids = await beginRuns(server, runs);

  await server.close();
  isCounted = true;
  await server.restart();
  isCounted = false;
  await until(() => server.model.requests.length === 2 * runs);

  const count = (name: string): number => calls.filter((call) => call === name).length;
  expect({ claim: count("claim"), getConversation: count("getConversation") }).toEqual({
    claim: 0,
    getConversation: 0,
  });
  // One of the former owner first, then 32 at a time; each is looked at before the claim and read after it.
  expect(count("claimMany")).toBeLessThanOrEqual(4);
  expect(count("getConversations")).toBeLessThanOrEqual(8);
  expect(server.log.filter(({ message }) => message.includes("could not"))).toEqual([]);
  for (const id of ids) expect((await server.client.getConversation(id)).execution_status).toBe("running");
});

test("P2: a message to a conversation that is being adopted waits for that, and takes nothing away from it", async () => {
  const isClaiming = Promise.withResolvers<void>();
  const isSending = Promise.withResolvers<void>();
  const mayClaim = Promise.withResolvers<void>();
  let isRestarted = false;
  let singleClaims = 0;
  await using server = await startTestServer({
    script,
    wrapJournal: (journal) =>
      withMethods(journal, {
        ownerOf: async (id) => {
          isSending.resolve();
          return await journal.ownerOf(id);
        },
        claim: async (id) => {
          if (isRestarted) singleClaims += 1;
          return await journal.claim(id);
        },
        claimMany: async (ids) => {
          if (!isRestarted) return await journal.claimMany(ids);
          isClaiming.resolve();
          await mayClaim.promise;
          return await journal.claimMany(ids);
        },
      }),
  });
  const [id] = await beginRuns(server, 1);
  await server.close();
  isRestarted = true;
  const restarted = server.restart();
  await isClaiming.promise;
  const sent = server.client.sendMessage(id!, { content: [{ type: "text", text: "More." }], run: true });
  await isSending.promise;
  mayClaim.resolve();
  await Promise.all([restarted, sent]);

  expect(singleClaims).toBe(0);
  await until(async () =>
    (await server.events(id!)).some((event) => JSON.stringify(event).includes("More.")),
  );
  expect(server.log.filter(({ message }) => message.includes("could not"))).toEqual([]);
});

test("a startup without claims succeeds, and the runs are adopted once the store works again", async () => {
  let isBroken = false;
  await using server = await startTestServer({
    script,
    wrapJournal: (journal) =>
      withMethods(journal, {
        claimMany: async (ids) => {
          if (isBroken) throw new Error("The disk is full.");
          return await journal.claimMany(ids);
        },
      }),
  });
  await beginRuns(server, 3);
  await server.close();
  isBroken = true;
  await server.restart();
  expect(server.log).toContainEqual(expect.objectContaining({ level: "error" }));
  isBroken = false;
  await until(() => server.model.requests.length === 6);
});

test("P27: what was claimed with others and lost before it was loaded is claimed again before anything of it begins", async () => {
  let isRestarted = false;
  let claims = 0;
  const lose: ((ids: readonly string[]) => void)[] = [];
  await using server = await startTestServer({
    script,
    wrapJournal: (journal) =>
      withMethods(journal, {
        claimMany: async (ids) => {
          if (isRestarted) claims += 1;
          return await journal.claimMany(ids);
        },
        getConversations: async (ids) => {
          const rows = await journal.getConversations(ids);
          if (claims === 1) for (const lost of lose.splice(0)) lost(ids);
          return rows;
        },
        onSetBack: (listener) => {
          const gone = { acknowledgedSeq: 0, lastEventId: null, storedSeq: 0 };
          lose.push((ids) => listener(ids.map((conversationId) => ({ conversationId, ...gone }))));
          return journal.onSetBack(listener);
        },
      }),
  });
  await beginRuns(server, 1);
  await server.close();
  lose.length = 0;
  isRestarted = true;
  await server.restart();
  await until(() => server.model.requests.length === 2);
  expect(claims).toBe(2);
});

test("P27: a run that cannot read its log while the database is unavailable waits for it", async () => {
  let refusals = 0;
  await using server = await startTestServer({
    script,
    wrapJournal: (journal) =>
      withMethods(journal, {
        readKinds: async (...read) => {
          // The run's own reading, not that of whoever loads it.
          if (refusals === 0 || read[1] !== viewKinds) return await journal.readKinds(...read);
          refusals -= 1;
          throw new DatabaseUnavailableError("The database is unavailable");
        },
      }),
  });
  const [id] = await beginRuns(server, 1);
  await server.close();
  refusals = 2;
  await server.restart();
  await until(() => refusals === 0 && server.model.requests.length === 2);
  expect((await server.client.getConversation(id!)).execution_status).toBe("running");
});

test("P6: a call that may have begun elsewhere is not made here while nobody can be told that its outcome is unknown", async () => {
  let isElsewhere = false;
  let refusals = 0;
  await using server = await startTestServer({
    script: { turns: [{ tool_calls: [{ name: "terminal", arguments: { command: "hold on" } }] }] },
    wrapJournal: (journal) =>
      withMethods(journal, {
        append: async (lease, batch) => {
          if (refusals === 0) return await journal.append(lease, batch);
          refusals -= 1;
          throw new JournalWriteError("The database is unavailable");
        },
        claimMany: async (ids) => {
          const claims = await journal.claimMany(ids);
          return claims.map((claim) =>
            isElsewhere && claim !== null && "generation" in claim
              ? { ...claim, isFromElsewhere: true }
              : claim,
          );
        },
      }),
  });
  await server.createConversation({ text: "go" });
  await until(() => server.quickTools.started.length === 1);
  // The call ends without an answer, and its record stays on the other machine.
  refusals = Infinity;
  await server.close();
  await rm(join(server.dataDir, "conversations"), { recursive: true });
  isElsewhere = true;
  refusals = 2;
  await server.restart();
  await until(() => server.model.requests.length === 2 || server.quickTools.started.length === 2);
  expect(server.quickTools.started).toEqual(["hold on"]);
});
