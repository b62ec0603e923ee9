import { expect, test } from "vitest";
import { readAudit } from "../../../testing/read-audit.ts";
import { startTestServer } from "../../../testing/start-server.ts";

test("S20: an event and a full page are answered again with 304; changing answers are not cached", async () => {
  await using server = await startTestServer({ script: { turns: [{ text: "Hello." }] } });
  const id = await server.runTo("finished", "Say hello.");
  const events = `/api/conversations/${id}/events`;
  const first = (await server.call("GET", `${events}/search?sort_order=TIMESTAMP_DESC&limit=1`)).json as {
    items: { id: string }[];
    next_page_id: string;
  };
  const older = `${events}/search?sort_order=TIMESTAMP_DESC&limit=1&page_id=${first.next_page_id}`;
  const oldest = `${events}/search?limit=1`;
  for (const path of [`${events}/${first.items[0]!.id}`, older, oldest]) {
    const reply = await server.call("GET", path);
    const etag = reply.headers.get("etag")!;
    expect([etag, reply.headers.get("cache-control")]).toEqual([
      expect.stringMatching(/^W\/"[\w-]+"$/),
      "private, no-cache",
    ]);
    const again = await server.call("GET", path, undefined, { "if-none-match": `"x", ${etag}` });
    expect([again.status, again.text, again.headers.get("etag")]).toEqual([304, "", etag]);
    expect((await server.call("GET", path, undefined, { "if-none-match": 'W/"x"' })).text).toBe(reply.text);
    const stranger = await server.call("GET", path, undefined, {
      "if-none-match": etag,
      "X-Session-API-Key": "wrong",
    });
    expect(stranger.status).toBe(401);
  }
  for (const path of [
    `${events}/search?sort_order=TIMESTAMP_DESC&limit=1`,
    `${events}/search?limit=100`,
    `${events}/search?sort_order=TIMESTAMP_DESC&limit=100&page_id=${first.next_page_id}`,
    `${events}/count`,
  ]) {
    expect((await server.call("GET", path)).headers.get("etag")).toBe(null);
  }
});

test("S20: a cached page equals the log's, also after it grew; it is deleted with the conversation", async () => {
  await using server = await startTestServer({ script: { turns: [{ text: "Hello." }], loop: true } });
  const id = await server.runTo("finished", "Say hello.");
  const events = `/api/conversations/${id}/events`;
  const paths = [`${events}/search?limit=1`, `${events}/search?sort_order=TIMESTAMP_DESC&limit=100`];
  const read = () => Promise.all(paths.map((path) => server.call("GET", path)));
  const first = await read();
  const again = await read();
  expect(again.map(({ text }) => text)).toEqual(first.map(({ text }) => text));
  expect(again[0]!.headers.get("etag")).toBe(first[0]!.headers.get("etag"));
  expect(again.map(({ headers }) => headers.get("content-type"))).toEqual(
    paths.map(() => "application/json"),
  );
  const content = [{ type: "text", text: "Kept for later." }];
  await server.call("POST", events, { role: "user", content, run: false });
  const [oldest, newest] = await read();
  expect(oldest!.text).toBe(first[0]!.text);
  expect(newest!.text).toContain("Kept for later.");
  await server.call("DELETE", `/api/conversations/${id}`);
  expect((await read()).map(({ status }) => status)).toEqual([404, 404]);
});

test("P54: a page that is asked for again is its owner's alone, and each call is a line", async () => {
  await using server = await startTestServer({ script: { turns: [{ text: "Hello." }] } });
  const id = await server.runTo("finished", "Say hello.");
  const make = async (user: string) =>
    (await server.call("POST", "/api/keys", { user })).json as { key: string; id: string };
  const { key } = await make("bob");
  const { key: later, id: laterId } = await make("local");
  const path = `/api/conversations/${id}/events/search?limit=1`;
  const ask = (asker: string) => server.call("GET", path, undefined, { "X-Session-API-Key": asker });
  const replies = [await ask(server.key), await ask(server.key), await ask(later), await ask(key)];
  expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 404]);
  expect(new Set(replies.slice(0, 3).map(({ text }) => text)).size).toBe(1);
  await server.call("DELETE", `/api/keys/${laterId}`);
  expect((await ask(later)).status).toBe(401);
  await server.close();
  const { calls } = await readAudit(server.dataDir);
  const route = "/api/conversations/:conversation_id/events/search";
  const logged = calls.filter((call) => (call as { route?: string }).route === route);
  expect(logged).toMatchObject([
    { user: "local", keyId: null, requestId: replies[0]!.headers.get("x-request-id"), status: 200 },
    { user: "local", keyId: null, requestId: replies[1]!.headers.get("x-request-id"), status: 200 },
    { user: "local", keyId: laterId, target: { conversation_id: id }, status: 200 },
    { user: "bob", target: { conversation_id: id }, status: 404 },
  ]);
});
