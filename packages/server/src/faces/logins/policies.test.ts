import { randomUUID } from "node:crypto";
import type { CreatedKey } from "@convoke/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, type Reply, type TestServer } from "../../testing/start-server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server[Symbol.asyncDispose]());

const call = (key: string, method: string, path: string, body?: unknown): Promise<Reply> =>
  server.call(method, path, body, { "X-Session-API-Key": key });

async function keyOf(user: string): Promise<string> {
  const { json } = await call(server.key, "POST", "/api/keys", { user });
  return (json as CreatedKey).key;
}

const setPolicy = (user: string, policy: object): Promise<Reply> =>
  call(server.key, "PUT", `/api/policies/${user}`, policy);

const create = (key: string, more: object = {}): Promise<Reply> =>
  call(key, "POST", "/api/conversations", server.startRequest(more));

test("a quota of conversations is told when it is near, and refuses when it is reached", async () => {
  const ada = await keyOf("ada");
  expect((await setPolicy("ada", { conversations: 5 })).json).toEqual({
    user_id: "ada",
    policy: { conversations: 5 },
  });
  for (let made = 1; made <= 3; made += 1) {
    const { status, headers } = await create(ada);
    expect([status, headers.get("x-convoke-quota")]).toEqual([201, null]);
  }
  const fourth = await create(ada);
  expect([fourth.status, fourth.headers.get("x-convoke-quota")]).toEqual([
    201,
    "conversations; used=4; max=5",
  ]);
  expect((await call(ada, "GET", "/api/quotas")).json).toEqual({
    quotas: [{ name: "conversations", used: 4, max: 5, is_near: true }],
    policy: { conversations: 5 },
  });
  const { id } = fourth.json as { id: string };
  expect((await call(ada, "POST", `/api/conversations/${id}/fork`)).status).toBe(201);
  const refused = await create(ada);
  expect([refused.status, refused.json]).toEqual([
    429,
    {
      detail:
        "Your quota is reached: 5 conversations exist, and your policy allows 5. Delete a conversation, or ask an admin for more.",
      code: "quota_reached",
      quota: { name: "conversations", used: 5, max: 5, ends: "Delete a conversation." },
    },
  ]);
  const fork = await call(ada, "POST", `/api/conversations/${id}/fork`);
  expect([fork.status, fork.json]).toMatchObject([429, { code: "quota_reached" }]);
  // Asked again, it is the one that there is.
  expect((await create(ada, { conversation_id: id })).status).toBe(200);
  expect((await call(ada, "DELETE", `/api/conversations/${id}`)).status).toBe(200);
  expect((await create(ada)).status).toBe(201);
  expect((await create(await keyOf("bob"))).status).toBe(201);
});

test("requests at the same time do not exceed a quota", async () => {
  const eve = await keyOf("eve");
  await setPolicy("eve", { conversations: 3 });
  const replies = await Promise.all(
    Array.from({ length: 12 }, () => create(eve, { conversation_id: randomUUID() })),
  );
  expect(replies.filter(({ status }) => status === 201).length).toBeLessThanOrEqual(3);
  expect((await call(eve, "GET", "/api/conversations/count")).json).toBeLessThanOrEqual(3);
});

test("a policy of all users counts where a user has none, and an empty one ends it", async () => {
  const carl = await keyOf("carl");
  expect((await setPolicy("*", { conversations: 0 })).status).toBe(200);
  expect((await create(carl)).status).toBe(429);
  await setPolicy("carl", { conversations: 1 });
  expect((await create(carl)).status).toBe(201);
  const { json } = await call(server.key, "GET", "/api/policies");
  expect(json).toMatchObject({
    policies: expect.arrayContaining([{ user_id: "*", policy: { conversations: 0 } }]) as unknown,
  });
  expect((await setPolicy("*", {})).json).toEqual({ user_id: "*", policy: {} });
  expect((await setPolicy("carl", {})).status).toBe(200);
  expect((await create(carl)).status).toBe(201);
});

test("only admins see and set policies, and a wrong one is refused with its field", async () => {
  const dora = await keyOf("dora");
  for (const [method, path] of [
    ["GET", "/api/policies"],
    ["PUT", "/api/policies/dora"],
  ] as const)
    expect((await call(dora, method, path, method === "PUT" ? {} : undefined)).status).toBe(403);
  const nobody = await setPolicy("nobody", { conversations: 1 });
  expect([nobody.status, nobody.json]).toMatchObject([404, { code: "user_not_found" }]);
  for (const [policy, field] of [
    [{ conversations: -1 }, "conversations"],
    [{ running_walls: 0 }, "running_walls"],
    [{ conversation: 1 }, "conversation"],
    [{ max_network: { allow: ["https://x"] } }, "max_network"],
  ] as const) {
    const { status, text } = await setPolicy("dora", policy);
    expect([status, text]).toEqual([422, expect.stringContaining(field)]);
  }
});

test("a user whose policy asks for a wall has no conversation on a server without walls", async () => {
  const fay = await keyOf("fay");
  await setPolicy("fay", { least_wall: "as_root" });
  const refused = await create(fay);
  expect([refused.status, refused.json]).toMatchObject([403, { code: "policy_refused" }]);
});
