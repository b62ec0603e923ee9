import type { CreatedKey, UserList } from "@convoke/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, type Reply, type TestServer } from "../../testing/start-server.ts";
import { TestSocket } from "../../testing/test-socket.ts";
import { closeCodes } from "../agent-server/sockets/close-codes.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ times: { keyCheckEveryMs: 20 } });
});
afterAll(() => server[Symbol.asyncDispose]());

const call = (key: string, method: string, path: string, body?: unknown): Promise<Reply> =>
  server.call(method, path, body, { "X-Session-API-Key": key });

async function makeKey(user: string): Promise<CreatedKey> {
  return (await server.call("POST", "/api/keys", { user })).json as CreatedKey;
}

test("disabling a user ends keys, logins and sockets at once; enabling brings none of them back", async () => {
  const { key, id } = await makeKey("ada");
  const ticket = (await call(key, "POST", "/api/auth/tickets")).json as { url: string };
  const login = await fetch(`${server.url}/api/auth/login`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ key }),
  });
  const cookie = login.headers.getSetCookie()[0]!.split(";", 1)[0]!;
  const halves = { cookie, "x-convoke-proof": ((await login.json()) as { proof: string }).proof };
  const statusOfLogin = async (): Promise<number> =>
    (await fetch(`${server.url}/api/tools/`, { headers: halves })).status;
  expect(await statusOfLogin()).toBe(200);
  using socket = new TestSocket(`${server.url}/sockets/overview`, { headers: { "X-Session-API-Key": key } });
  expect(await socket.opened).toBe("open");

  const disabled = await server.call("PATCH", "/api/users/ada", { disabled: true });
  expect(disabled.json).toMatchObject({
    id: "ada",
    role: "member",
    disabled_at: expect.any(String) as string,
  });
  expect((await call(key, "GET", "/api/tools/")).status).toBe(401);
  expect(await statusOfLogin()).toBe(401);
  expect((await socket.closed).code).toBe(closeCodes.authFailed);
  const redeemed = await call("", "POST", "/api/auth/login", { ticket: new URL(ticket.url).hash.slice(3) });
  expect(redeemed.status).toBe(401);
  expect((await server.call("POST", "/api/keys", { user: "ada" })).json).toMatchObject({
    code: "user_disabled",
  });

  const enabled = await server.call("PATCH", "/api/users/ada", { disabled: false, role: "viewer" });
  expect(enabled.json).toMatchObject({ role: "viewer", disabled_at: null });
  expect((await call(key, "GET", "/api/tools/")).status).toBe(401);
  expect(await statusOfLogin()).toBe(401);
  const next = await makeKey("ada");
  expect(next.id).not.toBe(id);
  expect((await call(next.key, "GET", "/api/tools/")).status).toBe(200);
});

test("only admins disable, the user local never, and a change without fields changes nothing", async () => {
  const { key } = await makeKey("bob");
  expect((await call(key, "PATCH", "/api/users/bob", { disabled: true })).json).toMatchObject({
    code: "role_refused",
  });
  expect((await server.call("PATCH", "/api/users/local", { disabled: true })).json).toMatchObject({
    code: "fixed_role",
  });
  expect((await server.call("PATCH", "/api/users/nobody", { disabled: true })).status).toBe(404);
  expect((await server.call("PATCH", "/api/users/bob", {})).json).toMatchObject({ disabled_at: null });
  const { users } = (await server.call("GET", "/api/users")).json as UserList;
  expect(users.find(({ id }) => id === "bob")).toMatchObject({ role: "member", disabled_at: null });
});
