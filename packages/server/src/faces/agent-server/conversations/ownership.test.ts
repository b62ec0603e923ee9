import { once } from "node:events";
import { connect } from "node:net";
import { agentServerRoutes, controlRoutes, type Route } from "@convoke/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, type Reply, type TestServer } from "../../../testing/start-server.ts";
import { TestSocket } from "../../../testing/test-socket.ts";
import { until } from "../../../testing/until.ts";
import { webhookDefaults } from "../../../webhooks/webhook.ts";
import { closeCodes } from "../sockets/close-codes.ts";

/** What each route below one conversation is sent; a route that needs a body and is not here fails its test. */
const bodies: Readonly<Record<string, unknown>> = {
  updateConversation: { title: "mine now" },
  updateSecrets: { secrets: { A: "a" } },
  setConfirmationPolicy: { policy: { kind: "NeverConfirm" } },
  setSecurityAnalyzer: { security_analyzer: null },
  sendMessage: { content: "hi" },
  generateTitle: {},
  respondToConfirmation: { accept: true },
  askAgent: { question: "Who are you?" },
  answerApprovals: { answers: [{ action_id: "x", accept: true }] },
  sendToolResults: { results: [{ tool_call_id: "x", content: "y" }] },
  grantHosts: { hosts: ["example.com"] },
  setApprovalPolicy: { policy: null },
  setAllowRules: { rules: [] },
  tryAllowRules: { rules: [] },
  navigateConversation: { event_id: null },
  startGoal: { objective: "Done." },
  setLimits: { max_iterations: 7 },
  switchLlm: { llm: { model: "openai/other" } },
  switchProfile: { profile_name: "other" },
  switchAcpModel: { model: "a" },
  loadPlugin: { plugin_ref: "/a/plugin" },
};
const routes: readonly Route[] = Object.values({ ...agentServerRoutes, ...controlRoutes });
const ofOneConversation = routes.filter(({ path }) => path.includes("{conversation_id}"));

let server: TestServer;
let conversation = "";
let event = "";
let strangerKey = "";
let ownerKey = "";
let ownerKeyId = "";
beforeAll(async () => {
  server = await startTestServer({
    script: { turns: [{ text: "Hello." }], loop: true },
    times: { keyCheckEveryMs: 20 },
  });
  await using keys = await server.openKeys();
  strangerKey = (await keys.store.create("bob", "")).key;
  ({
    key: ownerKey,
    entry: { id: ownerKeyId },
  } = await keys.store.create("ada", ""));
  const created = await as(ownerKey, "POST", "/api/conversations", server.startRequest({ text: "hi" }));
  conversation = (created.json as { id: string }).id;
  await until(async () => {
    const { json } = await as(ownerKey, "GET", `/api/conversations/${conversation}`);
    return (json as { execution_status: string }).execution_status === "finished";
  });
  const page = await as(ownerKey, "GET", `/api/conversations/${conversation}/events/search?limit=1`);
  event = (page.json as { items: { id: string }[] }).items[0]!.id;
});
afterAll(() => server[Symbol.asyncDispose]());

test("the table has the routes of one conversation", () => {
  expect(ofOneConversation.length).toBeGreaterThan(10);
});

test.each(ofOneConversation.map((route) => [route.operationId, route] as const))(
  "a conversation of another user is not there: %s",
  async (operation, { method, path }) => {
    const before = await as(ownerKey, "GET", `/api/conversations/${conversation}`);
    const body = bodies[operation];
    const url = path.replace("{conversation_id}", conversation).replace("{event_id}", event);
    const refused = await as(
      strangerKey,
      method,
      operation === "getEvents" ? `${url}?ids=${event}` : url,
      body,
    );
    if (operation === "stopConversation") {
      expect(refused.json).toMatchObject({ status: "ok", conversation_status: "STOPPED" });
    } else {
      expect(refused.status, refused.text).toBe(404);
      expect(refused.json).toMatchObject({ code: "conversation_not_found" });
    }
    const after = await as(ownerKey, "GET", `/api/conversations/${conversation}`);
    expect(after.json).toEqual(before.json);
  },
);

test("J27: lists, counts and batches have one's own conversations only", async () => {
  const ids = `?ids=${conversation}`;
  expect((await as(strangerKey, "GET", `/api/conversations${ids}`)).json).toEqual([null]);
  expect((await as(strangerKey, "GET", "/api/conversations/search")).json).toMatchObject({ items: [] });
  expect((await as(strangerKey, "GET", "/api/conversations/count")).json).toBe(0);
  expect((await as(ownerKey, "GET", "/api/conversations/count")).json).toBe(1);
  const own = await as(ownerKey, "GET", "/api/conversations/search");
  expect(own.json).toMatchObject({ items: [{ id: conversation }] });
  const foreignPage = await as(strangerKey, "GET", `/api/conversations/search?page_id=${conversation}`);
  expect(foreignPage.status).toBe(422);
});

test("J27: a taken id of another user can be neither read nor replaced", async () => {
  const body = server.startRequest({ conversation_id: conversation, title: "mine now" });
  expect((await as(strangerKey, "POST", "/api/conversations", body)).status).toBe(404);
  const own = await as(ownerKey, "GET", `/api/conversations/${conversation}`);
  expect(own.json).not.toMatchObject({ title: "mine now" });
});

test.each(["in the handshake", "in the first frame"])(
  "the socket closes for another user, key %s",
  async (where) => {
    const query = where === "in the handshake" ? `?session_api_key=${strangerKey}` : "";
    using socket = new TestSocket(`${server.url}/sockets/events/${conversation}${query}`);
    expect(await socket.opened).toBe("open");
    if (query === "") socket.send({ type: "auth", session_api_key: strangerKey });
    expect(await socket.closed).toMatchObject({ code: closeCodes.notFound });
    expect(socket.frames).toEqual([]);
  },
);

test("a key that is revoked stops working at once, on its open sockets too", async () => {
  using socket = new TestSocket(`${server.url}/sockets/events/${conversation}?session_api_key=${ownerKey}`);
  await socket.untilCount(1);
  await using keys = await server.openKeys();
  await keys.store.revoke(ownerKeyId, ownerKey);
  expect((await as(ownerKey, "GET", "/api/conversations/count")).status).toBe(401);
  expect(await socket.closed).toMatchObject({ code: closeCodes.authFailed });
});

test("what comes through the socket of a revoked key is not heard, though the client takes no notice that it is closed", async () => {
  await using keys = await server.openKeys();
  const revoked = await keys.store.create("bob", "");
  const { json } = await as(strangerKey, "POST", "/api/conversations", server.startRequest({}));
  const { id } = json as { id: string };
  const client = connect(Number(new URL(server.url).port), "127.0.0.1");
  client.write(
    [
      `GET /sockets/events/${id} HTTP/1.1`,
      `Host: ${new URL(server.url).host}`,
      `X-Session-API-Key: ${revoked.key}`,
      "Connection: Upgrade",
      "Upgrade: websocket",
      "Sec-WebSocket-Version: 13",
      "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
      "\r\n",
    ].join("\r\n"),
  );
  let received = "";
  client.setEncoding("latin1").on("data", (text: string) => (received += text));
  await until(async () => received.includes("full_state"));
  await keys.store.revoke(revoked.entry.id, revoked.key);
  await until(async () => received.includes("The key has ended, or may less"));
  const message = Buffer.from(JSON.stringify({ role: "user", content: "from outside" }));
  // Masked with zeros: it stays as it is.
  client.end(Buffer.concat([Buffer.from([0x81, 0x80 | message.length, 0, 0, 0, 0]), message]));
  await once(client, "close");
  await as(strangerKey, "POST", `/api/conversations/${id}/events`, { role: "user", content: "from bob" });
  const log = (await as(strangerKey, "GET", `/api/conversations/${id}/events/search`)).text;
  expect(log).toContain("from bob");
  expect(log).not.toContain("from outside");
});

async function as(key: string, method: string, path: string, body?: unknown): Promise<Reply> {
  return await server.call(method, path, body, { "X-Session-API-Key": key });
}

test("security 30: receivers of events are shown to whoever runs the server, and to nobody else", async () => {
  const webhooks = [{ ...webhookDefaults, base_url: "http://127.0.0.1:9/hook" }];
  await using hooked = await startTestServer({ config: { webhooks } });
  await using keys = await hooked.openKeys();
  const { key } = await keys.store.create("bob", "");
  const shownTo = async (who: string) => {
    const reply = await hooked.call("GET", "/api/webhooks", undefined, { "X-Session-API-Key": who });
    return (reply.json as { webhooks: object[] }).webhooks.length;
  };
  expect([await shownTo(hooked.key), await shownTo(key)]).toEqual([1, 0]);
});

test("security 9: where conversations are sandboxed, the server's machine is for its users alone", async () => {
  await using walled = await startTestServer({
    script: { turns: [{ text: "Hello." }], loop: true },
    config: { areConversationsSandboxed: true },
  });
  await using keys = await walled.openKeys();
  const { key } = await keys.store.create("bob", "");
  const program = { server: { command: "true" } };
  const asks = [
    ["POST", "/api/conversations", walled.startRequest({ text: "hi" })],
    ["POST", "/api/mcp/test", program],
    ["POST", "/api/skills", { project_dir: walled.dataDir }],
    ["POST", "/api/hooks", { project_dir: walled.dataDir }],
    ["POST", "/api/plugins", { project_dir: walled.dataDir }],
    ["POST", "/api/skills/install", { source: walled.dataDir }],
    ["GET", `/api/file/download?path=${walled.dataDir}/session-api-key`, undefined],
  ] as const;
  for (const [method, path, body] of asks) {
    const refused = await walled.call(method, path, body, { "X-Session-API-Key": key });
    expect(refused, path).toMatchObject({ status: 403, json: { code: "machine_refused" } });
    expect((await walled.call(method, path, body)).status, path).not.toBe(403);
  }
  expect(
    (await walled.call("GET", "/api/conversations/count", undefined, { "X-Session-API-Key": key })).json,
  ).toBe(0);
  expect((await walled.call("POST", "/api/skills", {}, { "X-Session-API-Key": key })).status).toBe(200);
});

test("security 9: a conversation from before does no more work on the server's machine", async () => {
  await using open = await startTestServer({ script: { turns: [{ text: "Hello." }], loop: true } });
  await using keys = await open.openKeys();
  const { key } = await keys.store.create("bob", "");
  const as = (method: string, path: string, body?: unknown) =>
    open.call(method, path, body, { "X-Session-API-Key": key });
  const { id } = (await as("POST", "/api/conversations", open.startRequest())).json as { id: string };
  await open.restart({ areConversationsSandboxed: true });
  await as("POST", `/api/conversations/${id}/events`, { content: "hi", run: true });
  await until(async () => {
    const { json } = await as("GET", `/api/conversations/${id}`);
    return (json as { execution_status: string }).execution_status === "error";
  });
  expect(open.model.requests).toEqual([]);
});
