import {
  agentFaceRoutes,
  appFaceRoutes,
  isInScope,
  leastRole,
  type CreatedKey,
  type Route,
} from "@convoke/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, type Reply, type TestServer } from "../../testing/start-server.ts";
import { TestSocket } from "../../testing/test-socket.ts";
import { closeCodes } from "../agent-server/sockets/close-codes.ts";

let server: TestServer;
let conversation = "";
let other = "";
let key = "";
beforeAll(async () => {
  server = await startTestServer({ script: { turns: [{ text: "Hello." }], loop: true } });
  conversation = await server.runTo("finished", "hi");
  other = await server.runTo("finished", "hi");
  key = (await make({ scope: { conversation } })).key;
});
afterAll(() => server[Symbol.asyncDispose]());

async function make(body: object): Promise<CreatedKey> {
  const reply = await server.call("POST", "/api/keys", body);
  expect(reply.status).toBe(201);
  return reply.json as CreatedKey;
}

const withKey = (): Record<string, string> => ({ "X-Session-API-Key": key });
const call = (method: string, path: string, body?: unknown): Promise<Reply> =>
  server.call(method, path, body, withKey());

const tables: readonly Readonly<Record<string, Route>>[] = [agentFaceRoutes, appFaceRoutes];
const routes = tables
  .flatMap((table) => Object.values(table))
  .filter((route) => route.auth && leastRole(route) !== "admin");

async function wrongAnswers(
  some: readonly Route[],
  id: string,
  status: number,
  code: string,
): Promise<string[]> {
  const wrong: string[] = [];
  for (const { method, path } of some) {
    const answer = await call(method, path.replaceAll(/\{\w+\}/g, id));
    if (answer.status !== status || (answer.json as { code?: string }).code !== code)
      wrong.push(`${method} ${path}: ${answer.status}`);
  }
  return wrong;
}

test("with the key of one conversation every other one is missing, on every route", async () => {
  const ofConversations = routes.filter((route) => isInScope(route) && route.path.includes("{"));
  expect(ofConversations.length).toBeGreaterThan(60);
  expect(await wrongAnswers(ofConversations, other, 404, "conversation_not_found")).toEqual([]);
});

test("what is not about a conversation is refused to the key of one, also with the id of its own", async () => {
  const outside = routes.filter((route) => !isInScope(route));
  expect(outside.length).toBeGreaterThan(100);
  for (const id of [other, conversation])
    expect(await wrongAnswers(outside, id, 403, "scope_refused")).toEqual([]);
});

test("the machine's commands and shells are not those of a conversation", async () => {
  await server.call("POST", "/api/bash/execute_bash_command", { command: "echo of-another" });
  const path = `/api/conversations/${conversation}`;
  const command = { command: "true" };
  for (const [method, address, body] of [
    ["GET", `${path}/bash/bash_events/search`],
    ["DELETE", `${path}/bash/bash_events`],
    ["POST", `${path}/bash/execute_bash_command`, command],
    ["POST", `${path}/shells`, { columns: 80, rows: 24 }],
  ] as const)
    expect(await call(method, address, body)).toMatchObject({
      status: 403,
      json: { code: "scope_refused" },
    });
});

test("its own conversation is there to read and to write, and lists have it alone", async () => {
  const path = `/api/conversations/${conversation}`;
  expect((await call("GET", path)).status).toBe(200);
  expect((await call("GET", `/api/conversations/${conversation.replaceAll("-", "")}`)).status).toBe(200);
  // Twice, as the second answer may come from a cache.
  for (const _time of [1, 2]) {
    expect((await call("GET", `${path}/events/search`)).status).toBe(200);
    const theirs = await server.call("GET", `/api/conversations/${other}/events/search`);
    expect(theirs.status).toBe(200);
    expect((await call("GET", `/api/conversations/${other}/events/search`)).status).toBe(404);
  }
  const message = { role: "user", content: [{ type: "text", text: "More." }], run: false };
  expect((await call("POST", `${path}/events`, message)).status).toBe(200);
  const items = [{ id: conversation }];
  const found = (await call("GET", "/api/conversations/search?limit=1")).json;
  expect(found).toMatchObject({ items, next_page_id: null });
  const lists = routes.filter(
    (route) => route.method === "GET" && isInScope(route) && !route.path.includes("{"),
  );
  for (const { path: list } of lists) expect((await call("GET", list)).text).not.toContain(other);
  const summaries = lists.filter(({ operationId }) => operationId.startsWith("search"));
  expect(summaries).toHaveLength(2);
  for (const { path: list } of summaries)
    expect((await call("GET", list)).json).toMatchObject({ items, next_page_id: null });
  expect((await call("GET", "/api/conversations/count")).json).toBe(1);
  expect((await call("GET", "/api/conversations/count?status=running")).json).toBe(0);
  const several = await call("GET", `/api/conversations?ids=${other}&ids=${conversation}`);
  expect(several.json).toMatchObject([null, { id: conversation }]);
  expect((await call("GET", "/api/approvals")).json).toEqual({ items: [] });
});

test("its sockets are those of its conversation, and the overview has it alone", async () => {
  const open = (path: string): TestSocket => new TestSocket(`${server.url}${path}`, { headers: withKey() });
  using own = open(`/sockets/events/${conversation}`);
  await own.untilCount(1);
  using overview = open("/sockets/overview");
  await overview.until((events) => events.some(({ kind }) => kind === "Listed"));
  expect(overview.events.find(({ kind }) => kind === "Listed")).toMatchObject({ ids: [conversation] });
  expect(JSON.stringify(overview.frames)).not.toContain(other);
  for (const path of [
    `/sockets/events/${other}`,
    `/sockets/terminals/${other}`,
    `/sockets/shells/${conversation}?shell=0`,
    "/sockets/bash-events",
  ]) {
    using refused = open(path);
    expect(await refused.closed).toMatchObject({ code: closeCodes.notFound, reason: outsideReason });
  }
});

const outsideReason = "Not found for this key, which is for one conversation";

test("a key that only reads is that of a viewer, and the list of keys has both scopes", async () => {
  const made = await make({ scope: { read_only: true, conversation: conversation.replaceAll("-", "") } });
  expect(made).toMatchObject({ role: "viewer", scope: { read_only: true, conversation } });
  const { json } = await server.call("GET", `/api/keys/${made.id}`);
  expect(json).toMatchObject({ role: "viewer", scope: { read_only: true, conversation } });
  const refused = await server.call("POST", `/api/conversations/${conversation}/run`, undefined, {
    "X-Session-API-Key": made.key,
  });
  expect([refused.status, refused.json]).toMatchObject([403, { code: "role_refused" }]);
  expect((await make({})).scope).toBeNull();
});

test.each([
  { scope: { conversation: "x" } },
  { scope: { everything: true } },
  { scope: { read_only: false } },
])("%j is no scope", async (body) => {
  expect((await server.call("POST", "/api/keys", body)).status).toBe(422);
});
