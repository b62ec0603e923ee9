import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../../testing/start-server.ts";

let server: TestServer;
const script = {
  turns: [{ tool_calls: [{ name: "terminal", arguments: { command: "one" } }] }, { text: "All done." }],
};
beforeAll(async () => {
  server = await startTestServer({ script });
});
afterAll(() => server[Symbol.asyncDispose]());

const route = "POST /api/conversations/{conversation_id}/replay" as const;

test("S19: every request of a conversation is checked, and several checks at once come to the same", async () => {
  const id = await server.runTo("finished", "Do one thing.");
  const params = { conversation_id: id };
  const expected = { verified: 2, unrecorded: 0, difference: null };
  const checks = Array.from({ length: 3 }, () => server.client.call(route, { params }));
  expect(await Promise.all(checks)).toEqual([expected, expected, expected]);
});

test("S19: a check ends on a client disconnect, and the next one begins", async () => {
  const id = await server.runTo("finished", "Do one thing.");
  const params = { conversation_id: id };
  const stop = new AbortController();
  const left = server.client.call(route, { params, signal: stop.signal });
  stop.abort();
  await expect(left).rejects.toThrow();
  expect(await server.client.call(route, { params })).toMatchObject({ difference: null });
});

test("S19: of a conversation that is not there nothing is checked", async () => {
  const reply = await server.call("POST", `/api/conversations/${crypto.randomUUID()}/replay`);
  expect(reply).toMatchObject({ status: 404, json: { code: "conversation_not_found" } });
});

test("S19: the first request that does not follow from the log is named", async () => {
  const id = await server.runTo("finished", "Do one thing.");
  const rewrite = (from: string, to: string): void => {
    using database = new DatabaseSync(path.join(server.dataDir, "journal.db"));
    for (const table of ["recent", "events"])
      database.exec(`UPDATE ${table} SET checksum = NULL, json = replace(json, '${from}', '${to}')`);
  };
  rewrite("Do one", "Do two");
  const events = await server.events(id);
  const action = events.findIndex(({ kind }) => kind === "ActionEvent");
  expect(await server.client.call(route, { params: { conversation_id: id } })).toEqual({
    verified: 0,
    unrecorded: 0,
    difference: {
      event_id: events[action]!.id,
      position: action + 1,
      who: "agent",
      recorded: expect.any(String),
      rebuilt: expect.any(String),
    },
  });
  // Its log is checked once more when the server ends.
  rewrite("Do two", "Do one");
});
