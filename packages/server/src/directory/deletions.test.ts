import { join } from "node:path";
import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import { expect, test } from "vitest";
import { unreadableConfig } from "../engine/read-config.ts";
import { openJournal } from "../journal/open-journal.ts";
import { sampleConversation } from "../journal/sample-events.ts";
import { DamagedEventError, JournalWriteError, LeaseHeldError, type Journal } from "../journal/journal.ts";
import { withMethods } from "../testing/with-methods.ts";
import type { ScriptTurn } from "../testing/scripted-model/script.ts";
import { startTestServer } from "../testing/start-server.ts";
import { until } from "../testing/until.ts";
import { Deletions } from "./deletions.ts";

const prompt = "Count the files.";
const parent = { match: { last_user_contains: "Have it counted." } };
const turns: ScriptTurn[] = [
  { ...parent, tool_calls: [{ name: "task", arguments: { prompt } }] },
  {
    match: { last_user_contains: prompt },
    tool_calls: [{ name: "terminal", arguments: { command: "hold on" } }],
  },
];

test("P27: a conversation that is deleted with its sub-agents is no other server's meanwhile, and works on where that fails", async () => {
  let id = "";
  let isFull = true;
  let other: Journal | null = null;
  const claims: unknown[] = [];
  await using server = await startTestServer({
    script: { turns },
    wrapJournal: (journal) =>
      withMethods(journal, {
        deleteConversation: async (lease) => {
          if (lease.conversationId !== id) {
            claims.push(await other?.claim(id).catch((error: unknown) => error));
            if (isFull) throw new JournalWriteError("The disk is full");
          }
          await journal.deleteConversation(lease);
        },
      }),
  });
  await using second = await openJournal({ dataDir: server.dataDir });
  other = second;
  const { agent } = server.startRequest();
  const tools = [{ name: "terminal" }, { name: "task_tool_set" }];
  ({ id } = await server.createConversation({ text: "Have it counted.", agent: { ...agent, tools } }));
  await until(() => server.quickTools.started.length === 1);

  expect(await server.call("DELETE", `/api/conversations/${id}`)).toMatchObject({
    status: 503,
    json: { code: "storage_failed" },
  });
  await server.client.sendMessage(id, { content: [{ type: "text", text: "Still there?" }], run: false });
  isFull = false;
  expect((await server.call("DELETE", `/api/conversations/${id}`)).status).toBe(200);
  expect(claims).toEqual([expect.any(LeaseHeldError), expect.any(LeaseHeldError)]);
});

test("a request to delete that arrives while the files of the conversation are removed shares that deletion", async () => {
  await using folder = await openTemporaryDirectory();
  await using journal = await openJournal({ dataDir: folder.path });
  const row = sampleConversation("c", { config: JSON.stringify(unreadableConfig) });
  await journal.createConversation(row);
  const isReleasing = Promise.withResolvers<void>();
  const isReleased = Promise.withResolvers<void>();
  const deletions = new Deletions({
    journal,
    deletions: { beforeDelete: async () => {} },
    loaded: {
      bar: () => ({ [Symbol.dispose]: () => {} }),
      find: async () => null,
      open: async () => await Promise.reject(new DamagedEventError("c", 1)),
    },
    watches: { end: () => {} },
    worktrees: {
      release: async () => {
        isReleasing.resolve();
        await isReleased.promise;
      },
    },
    sessions: { stateDir: (id) => join(folder.path, id) },
    holds: { requireFree: async () => {} },
  });
  const owner = { userId: row.ownerId };
  const first = deletions.delete(owner, "c");
  await isReleasing.promise;
  expect(await journal.getConversation("c")).toBeNull();
  const second = deletions.delete(owner, "c");
  await expect(deletions.delete({ userId: "somebody else" }, "c")).rejects.toMatchObject({ kind: "missing" });
  isReleased.resolve();
  await Promise.all([first, second]);
  await expect(deletions.delete(owner, "c")).rejects.toMatchObject({ kind: "missing" });
});

test("M3: a conversation that is evicted while it is deleted is not loaded again, and callers get Retry-After", async () => {
  let send: (() => Promise<void>) | null = null;
  const refusals: unknown[] = [];
  await using server = await startTestServer({
    script: { turns: [{ text: "Done." }], loop: true },
    wrapJournal: (journal) =>
      withMethods(journal, {
        deleteConversation: async (lease) => {
          await send?.();
          await journal.deleteConversation(lease);
        },
      }),
  });
  const id = await server.runTo("finished", "Hello.");
  const path = `/api/conversations/${id}`;
  send = async () => {
    const reply = await server.call("POST", `${path}/events`, {
      role: "user",
      content: [{ type: "text", text: "Wait!" }],
    });
    refusals.push([reply.status, reply.headers.get("retry-after"), (reply.json as { code?: string }).code]);
  };
  expect((await server.call("DELETE", path)).status).toBe(200);
  expect(refusals).toEqual([[503, "1", "conversation_closing"]]);
  expect((await server.call("GET", path)).status).toBe(404);
});
