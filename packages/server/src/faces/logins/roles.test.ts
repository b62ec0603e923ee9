import {
  agentFaceRoutes,
  appFaceRoutes,
  leastRole,
  type CreatedKey,
  type KeyList,
  type Route,
  type UserList,
} from "@convoke/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { webhookDefaults } from "../../webhooks/webhook.ts";
import { startTestServer, type Reply, type TestServer } from "../../testing/start-server.ts";
import { TestSocket } from "../../testing/test-socket.ts";
import { closeCodes } from "../agent-server/sockets/close-codes.ts";

let server: TestServer;
let conversation = "";
beforeAll(async () => {
  server = await startTestServer({
    times: { keyCheckEveryMs: 20 },
    script: { turns: [{ text: "Hello." }], loop: true },
  });
  conversation = await server.runTo("finished", "hi");
});
afterAll(() => server[Symbol.asyncDispose]());

const withKey = (key: string): Record<string, string> => ({ "X-Session-API-Key": key });

const call = (key: string, method: string, path: string, body?: unknown): Promise<Reply> =>
  server.call(method, path, body, withKey(key));

async function make(body: object, key = server.key): Promise<CreatedKey> {
  const reply = await call(key, "POST", "/api/keys", body);
  expect(reply.status).toBe(201);
  return reply.json as CreatedKey;
}

async function setRole(user: string, role: string): Promise<void> {
  expect((await call(server.key, "PATCH", `/api/users/${user}`, { role })).json).toMatchObject({ role });
}

const refused = { code: "role_refused" };

test("a viewer is refused every route that needs more, before its body is looked at", async () => {
  const viewer = await make({ role: "viewer" });
  const tables: readonly Readonly<Record<string, Route>>[] = [agentFaceRoutes, appFaceRoutes];
  const needMore = tables
    .flatMap((table) => Object.values(table))
    .filter((route) => route.auth && leastRole(route) !== "viewer");
  const found: string[] = [];
  for (const { method, path } of needMore) {
    const { status, json } = await call(viewer.key, method, path.replaceAll(/\{\w+\}/g, conversation));
    if (status !== 403 || (json as { code?: string }).code !== "role_refused")
      found.push(`${method} ${path}: ${status}`);
  }
  expect(found).toEqual([]);
  expect(needMore.length).toBeGreaterThan(100);
  const { json } = await call(viewer.key, "POST", `/api/conversations/${conversation}/run`);
  expect(json).toEqual({
    detail: "This needs the role member. Yours is viewer: ask an admin, or use another key.",
    code: "role_refused",
  });
});

test("a viewer reads conversations, and no secret as plain text", async () => {
  const viewer = await make({ role: "viewer" });
  for (const path of ["", "/events/search", "/transcript", "/outline"])
    expect((await call(viewer.key, "GET", `/api/conversations/${conversation}${path}`)).status).toBe(200);
  expect((await call(viewer.key, "GET", "/api/settings")).status).toBe(200);
  const exposed = { ...withKey(viewer.key), "X-Expose-Secrets": "plaintext" };
  const settings = await server.call("GET", "/api/settings", undefined, exposed);
  expect([settings.status, settings.json]).toMatchObject([403, refused]);
});

test("a viewer's socket has the events, and a message on it is refused and not stored", async () => {
  const viewer = await make({ role: "viewer" });
  const before = await server.eventTexts(conversation);
  using socket = new TestSocket(`${server.url}/sockets/events/${conversation}?resend_all=true`);
  expect(await socket.opened).toBe("open");
  // Behind the key, before anything has come.
  socket.send({ type: "auth", session_api_key: viewer.key });
  socket.send({ role: "user", content: "Stop." });
  await socket.until((events) => events.some(({ code }) => code === "role_refused"));
  await socket.until((events) => events.some(({ kind }) => kind === "MessageEvent"));
  socket.send({ role: "user", content: "Stop." });
  await socket.until((events) => events.filter(({ code }) => code === "role_refused").length === 2);
  expect(await server.eventTexts(conversation)).toEqual(before);
});

test("commands on the socket of commands are refused to a viewer", async () => {
  const viewer = await make({ role: "viewer" });
  using socket = new TestSocket(`${server.url}/sockets/bash-events`, { headers: withKey(viewer.key) });
  expect(await socket.opened).toBe("open");
  socket.send({ command: "true" });
  await socket.until((events) => events.some(({ code }) => code === "role_refused"));
});

test("a lesser role of the user counts for all of their keys and logins, and closes their sockets", async () => {
  const ada = await make({ user: "ada" });
  expect(ada.role).toBe("member");
  const reply = await server.call("POST", "/api/auth/login", { key: ada.key }, { origin: server.url });
  const login = {
    cookie: reply.headers.getSetCookie()[0]!.split(";")[0]!,
    "x-convoke-proof": (reply.json as { proof: string }).proof,
    origin: server.url,
  };
  using socket = new TestSocket(`${server.url}/sockets/overview`, { headers: withKey(ada.key) });
  await socket.untilCount(1);
  await setRole("ada", "viewer");
  expect(await socket.closed).toMatchObject({ code: closeCodes.authFailed });
  const tried = { label: "more" };
  expect((await call(ada.key, "POST", "/api/keys", tried)).json).toMatchObject(refused);
  const byLogin = await fetch(`${server.url}/api/keys`, { method: "POST", headers: login });
  expect([byLogin.status, await byLogin.json()]).toMatchObject([403, refused]);
  expect((await call(ada.key, "GET", "/api/keys")).json).toMatchObject({ keys: [{ role: "viewer" }] });
  const out = await fetch(`${server.url}/api/auth/logout`, { method: "POST", headers: login });
  expect(out.status).toBe(204);
  await setRole("ada", "member");
  await make(tried, ada.key);
});

test("an admin has the keys and users of all; nobody else reads or changes users", async () => {
  const eve = await make({ user: "eve" });
  const others = await call(eve.key, "GET", "/api/users");
  expect([others.status, others.json]).toMatchObject([403, refused]);
  await setRole("eve", "admin");
  const bob = await make({ user: "bob" }, eve.key);
  expect(((await call(eve.key, "GET", "/api/keys")).json as KeyList).keys.map(({ id }) => id)).toContain(
    bob.id,
  );
  const { users } = (await call(eve.key, "GET", "/api/users")).json as UserList;
  expect(users).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ id: "bob", role: "member" }),
      expect.objectContaining({ id: "eve", role: "admin" }),
      expect.objectContaining({ id: "local", role: "admin" }),
    ]),
  );
  expect((await call(eve.key, "DELETE", `/api/keys/${bob.id}`)).status).toBe(204);
  const local = await call(eve.key, "PATCH", "/api/users/local", { role: "viewer" });
  expect([local.status, local.json]).toMatchObject([409, { code: "fixed_role" }]);
  const nobody = await call(eve.key, "PATCH", "/api/users/nobody", { role: "viewer" });
  expect([nobody.status, nobody.json]).toMatchObject([404, { code: "user_not_found" }]);
});

test("a key has at most the role of its user and of the key that made it", async () => {
  const member = await make({ role: "member" });
  expect((await make({}, member.key)).role).toBe("member");
  for (const body of [{ role: "admin" }, { user: "carl" }])
    expect((await call(member.key, "POST", "/api/keys", body)).status).toBe(403);
  const tooMuch = await call(server.key, "POST", "/api/keys", { user: "carl", role: "admin" });
  expect([tooMuch.status, tooMuch.json]).toMatchObject([403, { code: "more_than_own_key" }]);
  expect(((await call(member.key, "GET", "/api/keys")).json as KeyList).keys.every(isLocal)).toBe(true);
});

test("what a limited key makes stays limited when its user becomes more", async () => {
  const { key } = await make({ user: "dora", role: "member" });
  const heir = await make({}, key);
  const reply = await server.call("POST", "/api/auth/login", { key }, { origin: server.url });
  const login = {
    cookie: reply.headers.getSetCookie()[0]!.split(";")[0]!,
    "x-convoke-proof": (reply.json as { proof: string }).proof,
    origin: server.url,
  };
  const byLogin = await fetch(`${server.url}/api/keys`, { method: "POST", headers: login });
  const second = (await byLogin.json()) as CreatedKey;
  await setRole("dora", "admin");
  for (const limited of [key, heir.key, second.key]) {
    const own = (await call(limited, "GET", "/api/keys")).json as KeyList;
    expect(own.keys.map(({ role }) => role)).toEqual(["member", "member", "member"]);
    expect((await call(limited, "GET", "/api/users")).json).toMatchObject(refused);
  }
});

test("nodes, webhooks and metrics are for admins, and for nobody else", async () => {
  const webhooks = [{ ...webhookDefaults, base_url: "http://127.0.0.1:9/hook" }];
  await using hooked = await startTestServer({ config: { webhooks } });
  const ask = async (key: string, method: string, path: string, body?: unknown): Promise<Reply> =>
    await hooked.call(method, path, body, withKey(key));
  const keyOf = async (body: object): Promise<string> =>
    ((await ask(hooked.key, "POST", "/api/keys", body)).json as CreatedKey).key;
  const shownTo = async (key: string): Promise<unknown[]> => [
    ((await ask(key, "GET", "/api/nodes")).json as { nodes: object[] }).nodes.length,
    ((await ask(key, "GET", "/api/webhooks")).json as { webhooks: object[] }).webhooks.length,
    (await ask(key, "GET", "/metrics")).status,
  ];
  const admin = await keyOf({ user: "fay" });
  await ask(hooked.key, "PATCH", "/api/users/fay", { role: "admin" });
  for (const key of [hooked.key, await keyOf({}), admin]) expect(await shownTo(key)).toEqual([1, 1, 200]);
  for (const body of [{ role: "member" }, { scope: { read_only: true } }, { user: "gil" }])
    expect(await shownTo(await keyOf(body))).toEqual([0, 0, 403]);
});

const isLocal = ({ user_id: user }: { user_id: string }): boolean => user === "local";
