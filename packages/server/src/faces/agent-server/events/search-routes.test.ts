import type { SearchPage } from "@convoke/protocol";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { startTestServer, type TestServer } from "../../../testing/start-server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({
    script: {
      turns: [
        { text: "I look.", tool_calls: [{ name: "terminal", arguments: { command: "make kestrel" } }] },
        { text: "The Kestrel flies." },
      ],
      loop: true,
    },
  });
});
afterAll(() => server[Symbol.asyncDispose]());

async function search(query: Parameters<typeof find>[0]): Promise<SearchPage> {
  return await vi.waitFor(
    async () => {
      const page = await find(query);
      expect(page.is_complete).toBe(true);
      return page;
    },
    { timeout: 120_000, interval: 30 },
  );
}

function find(query: { q: string; kind?: string; source?: string; page_id?: string; limit?: number }) {
  return server.client.call("GET /api/search", { query });
}

test("S11: messages, commands and titles of all conversations are found, marked, the newest first", async () => {
  const first = await server.runTo("finished", "where is the kestrel", { autotitle: false });
  const second = await server.runTo("finished", "nothing of it");
  await server.client.updateConversation(second, { title: "A kestrel again" });
  const page = await search({ q: "KESTREL" });
  expect(page.titles).toMatchObject([
    {
      conversation_id: second,
      snippet: [{ text: "A ", is_match: false }, { text: "kestrel", is_match: true }, { text: " again" }],
    },
  ]);
  const found = page.items.map(({ conversation_id, kind, source }) => [conversation_id, kind, source]);
  expect(found.filter(([, kind]) => kind !== "ObservationEvent")).toEqual([
    [second, "MessageEvent", "agent"],
    [second, "ActionEvent", "agent"],
    [first, "MessageEvent", "agent"],
    [first, "ActionEvent", "agent"],
    [first, "MessageEvent", "user"],
  ]);
  const action = page.items.find(({ kind }) => kind === "ActionEvent")!;
  expect(action).toMatchObject({
    tool_name: "terminal",
    title: "A kestrel again",
    snippet: [
      { text: "make ", is_match: false },
      { text: "kestrel", is_match: true },
    ],
  });
  const events = await server.client.call("GET /api/conversations/{conversation_id}/events/{event_id}", {
    params: { conversation_id: action.conversation_id, event_id: action.event_id },
  });
  expect(events).toMatchObject({ id: action.event_id, timestamp: action.timestamp });

  expect((await search({ q: '"kestrel flies"', limit: 1 })).items).toHaveLength(1);
  const user = await search({ q: "kestrel", source: "user", kind: "MessageEvent" });
  expect(user).toMatchObject({ titles: [], items: [{ conversation_id: first }], next_page_id: null });

  await server.client.deleteConversation(first);
  const left = await find({ q: "kestrel" });
  expect(left.items.filter(({ conversation_id: id }) => id === first)).toEqual([]);
});

test("S11: an impossible search is refused by its field", async () => {
  const refused = async (query: string): Promise<unknown> =>
    (await server.call("GET", `/api/search?${query}`)).json;
  expect(await refused("")).toMatchObject({ detail: [{ loc: ["query", "q"] }] });
  expect(await refused("q=%22%22")).toMatchObject({ detail: [{ loc: ["query", "q"] }] });
  expect(await refused("q=a&since=yesterday")).toMatchObject({ detail: [{ loc: ["query", "since"] }] });
  expect((await server.call("GET", "/api/search?q=a&page_id=junk")).status).toBe(422);
});
