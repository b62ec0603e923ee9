import type { CreatedKey, KeyList } from "@convoke/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../testing/start-server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server[Symbol.asyncDispose]());

const withKey = (key: string): Record<string, string> => ({ "X-Session-API-Key": key });

async function make(body: object | undefined, key = server.key): Promise<CreatedKey> {
  const reply = await server.call("POST", "/api/keys", body, withKey(key));
  expect([reply.status, reply.headers.get("cache-control")]).toEqual([201, "no-store"]);
  return reply.json as CreatedKey;
}

const list = async (key: string): Promise<KeyList["keys"]> =>
  ((await server.call("GET", "/api/keys", undefined, withKey(key))).json as KeyList).keys;

test("S16: a key is shown once, works at once, and ends when it is revoked", async () => {
  const made = await make({ label: "laptop" });
  expect(made).toMatchObject({ user_id: "local", label: "laptop", last_used_at: null, is_current: false });
  expect(made.key).toMatch(/^convoke_[\w-]{32}$/);
  const listed = await list(made.key);
  expect(JSON.stringify(listed)).not.toContain(made.key);
  expect(listed.find(({ is_current: isCurrent }) => isCurrent)).toMatchObject({ id: made.id });
  const one = await server.call("GET", `/api/keys/${made.id}`);
  expect([one.status, one.json]).toMatchObject([200, { id: made.id, label: "laptop" }]);
  // The official client asks the hosted service so, and has to be told that this is another one.
  expect((await server.call("GET", "/api/keys/current")).status).toBe(404);
  expect((await server.call("DELETE", `/api/keys/${made.id}`)).status).toBe(204);
  expect((await server.call("GET", "/api/tools/", undefined, withKey(made.key))).status).toBe(401);
  const again = await server.call("DELETE", `/api/keys/${made.id}`);
  expect([again.status, again.json]).toMatchObject([404, { code: "key_not_found" }]);
  expect((await list(server.key)).some(({ id }) => id === made.id)).toBe(false);
});

test("S16: users have their own, the local user everybody's", async () => {
  const ada = await make({ user: "ada", label: "first" });
  const bob = await make({ user: "bob" });
  const second = await make(undefined, ada.key);
  expect((await list(ada.key)).map(({ id }) => id)).toEqual([ada.id, second.id]);
  const all = await list(server.key);
  expect(all.map(({ id }) => id)).toEqual(expect.arrayContaining([ada.id, bob.id, second.id]));
  const refused = await server.call("POST", "/api/keys", { user: "bob" }, withKey(ada.key));
  expect([refused.status, refused.json]).toMatchObject([403, { code: "keys_of_others" }]);
  expect((await server.call("DELETE", `/api/keys/${bob.id}`, undefined, withKey(ada.key))).status).toBe(404);
  expect((await server.call("DELETE", `/api/keys/${second.id}`, undefined, withKey(ada.key))).status).toBe(
    204,
  );
  expect((await server.call("DELETE", `/api/keys/${bob.id}`)).status).toBe(204);
});

test.each([{ user: "../ada" }, { user: "" }, { label: 7 }, { label: "x".repeat(201) }])(
  "S16: %j names no key",
  async (body) => {
    expect((await server.call("POST", "/api/keys", body)).status).toBe(422);
  },
);
