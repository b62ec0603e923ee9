import type { CreatedKey, KeyList } from "@convoke/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../testing/start-server.ts";
import { TestSocket } from "../../testing/test-socket.ts";
import { closeCodes } from "../agent-server/sockets/close-codes.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ times: { keyCheckEveryMs: 20 } });
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

test.each([
  { user: "../ada" },
  { user: "" },
  { label: 7 },
  { label: "x".repeat(201) },
  { expires_at: "2020-01-01T00:00:00Z" },
  { expires_at: "soon" },
])("S16: %j names no key", async (body) => {
  expect((await server.call("POST", "/api/keys", body)).status).toBe(422);
});

const hourMs = 3_600_000;
const inHours = (hours: number): string => new Date(Date.now() + hours * hourMs).toISOString();

test("S16: a key with an end is refused from then on, with its logins and sockets", async () => {
  const made = await make({ label: "short", expires_at: inHours(1) });
  expect((await list(server.key)).find(({ id }) => id === made.id)?.expires_at).toBe(made.expires_at);
  const login = await server.call("POST", "/api/auth/login", { key: made.key }, { origin: server.url });
  expect(login.json).toMatchObject({ expires_at: made.expires_at });
  const halves = {
    cookie: login.headers.getSetCookie()[0]!.split(";")[0]!,
    "x-convoke-proof": (login.json as { proof: string }).proof,
  };
  const statusOfLogin = async () => (await fetch(`${server.url}/api/tools/`, { headers: halves })).status;
  expect(await statusOfLogin()).toBe(200);
  using socket = new TestSocket(`${server.url}/sockets/overview`, { headers: withKey(made.key) });
  await socket.untilCount(1);
  await using keys = await server.openKeys();
  await keys.store.expire(made.id, made.key);
  expect((await server.call("GET", "/api/tools/", undefined, withKey(made.key))).status).toBe(401);
  expect(await statusOfLogin()).toBe(401);
  expect(await socket.closed).toMatchObject({ code: closeCodes.authFailed });
  expect((await list(server.key)).some(({ id }) => id === made.id)).toBe(false);
  expect((await server.call("DELETE", `/api/keys/${made.id}`)).status).toBe(404);
});

test("S16: no key makes one that outlives it", async () => {
  const short = await make({ expires_at: inHours(1) });
  expect((await make({}, short.key)).expires_at).toBe(short.expires_at);
  const later = await server.call("POST", "/api/keys", { expires_at: inHours(2) }, withKey(short.key));
  expect([later.status, later.json]).toMatchObject([403, { code: "more_than_own_key" }]);
  const sooner = inHours(0.5);
  expect((await make({ expires_at: sooner }, short.key)).expires_at).toBe(sooner);
});
