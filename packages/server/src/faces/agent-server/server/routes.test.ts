import { agentRoutes, agentServerRoutes, type AgentServerOperation } from "@convoke/protocol";
import { createValidator } from "@convoke/protocol/validate";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, type Reply, type TestServer } from "../../../testing/start-server.ts";

/** One request and the status it must get; `{id}` stands for a conversation, `{event}` for one of its events. */
type Case = {
  readonly operation: AgentServerOperation;
  readonly what: string;
  readonly query?: string;
  readonly body?: unknown;
  readonly conversation?: string;
  readonly event?: string;
  readonly status: number;
};

const missingId = "00000000-0000-4000-8000-000000000000";

const good: readonly Case[] = [
  { operation: "isAlive", what: "", status: 200 },
  { operation: "getHealth", what: "", status: 200 },
  { operation: "isReady", what: "", status: 200 },
  { operation: "getServerInfo", what: "", status: 200 },
  { operation: "getRoot", what: "", status: 200 },
  { operation: "listTools", what: "", status: 200 },
  {
    operation: "getConversations",
    what: "known, hex and unknown ids",
    query: `?ids={id}&ids=${missingId}&ids={hex}`,
    status: 200,
  },
  { operation: "searchConversations", what: "", status: 200 },
  {
    operation: "searchConversations",
    what: "every parameter",
    query: "?limit=1&status=finished&sort_order=UPDATED_AT",
    status: 200,
  },
  { operation: "countConversations", what: "", status: 200 },
  { operation: "countConversations", what: "by status", query: "?status=finished", status: 200 },
  { operation: "getConversation", what: "", status: 200 },
  {
    operation: "updateConversation",
    what: "title and tags",
    body: { title: " A ", tags: { team: "a" } },
    status: 200,
  },
  { operation: "updateConversation", what: "nothing", body: {}, status: 200 },
  { operation: "runConversation", what: "finished", status: 200 },
  { operation: "askAgent", what: "a question", body: { question: "Who are you?" }, status: 200 },
  { operation: "condenseConversation", what: "", status: 200 },
  { operation: "generateTitle", what: "a length", body: { max_length: 40 }, status: 200 },
  { operation: "getEventContext", what: "", status: 200 },
  { operation: "pauseConversation", what: "finished", status: 200 },
  { operation: "interruptConversation", what: "finished", status: 200 },
  { operation: "stopConversation", what: "finished", status: 200 },
  {
    operation: "updateSecrets",
    what: "three forms",
    body: {
      secrets: { A: "plain", B: { value: "x" }, C: { kind: "LookupSecret", url: "http://127.0.0.1:9/x" } },
    },
    status: 200,
  },
  {
    operation: "setConfirmationPolicy",
    what: "",
    body: { policy: { kind: "ConfirmRisky", threshold: "MEDIUM" } },
    status: 200,
  },
  {
    operation: "setSecurityAnalyzer",
    what: "",
    body: { security_analyzer: { kind: "LLMSecurityAnalyzer" } },
    status: 200,
  },
  { operation: "setSecurityAnalyzer", what: "off", body: { security_analyzer: null }, status: 200 },
  { operation: "searchEvents", what: "", status: 200 },
  {
    operation: "searchEvents",
    what: "every parameter",
    query:
      "?limit=2&kind=MessageEvent&source=user&body=hi&sort_order=TIMESTAMP_DESC&timestamp__gte=2020-01-01T00:00:00Z&timestamp__lt=2100-01-01T00:00:00Z",
    status: 200,
  },
  { operation: "countEvents", what: "", status: 200 },
  { operation: "getEvent", what: "", status: 200 },
  { operation: "getEvents", what: "by body", body: ["{event}", missingId, "no id"], status: 200 },
  { operation: "getEvents", what: "by query", query: "?ids={event}", status: 200 },
  { operation: "getEvents", what: "none", body: [], status: 200 },
  {
    operation: "sendMessage",
    what: "",
    body: { role: "user", content: [{ type: "text", text: "hi" }] },
    status: 200,
  },
  { operation: "sendMessage", what: "plain text", body: { content: "hi" }, status: 200 },
  { operation: "sendMessage", what: "unknown field", body: { content: "hi", extra: 1 }, status: 200 },
  {
    operation: "respondToConfirmation",
    what: "nothing waits",
    body: { accept: false, reason: "no" },
    status: 200,
  },
];

const bad: readonly Case[] = [
  ...belowConversation().flatMap((operation): Case[] => [
    {
      operation,
      what: "unknown conversation",
      conversation: missingId,
      ...valid(operation),
      // What is not there does not run either.
      status: operation === "stopConversation" ? 200 : 404,
    },
    { operation, what: "id is no UUID", conversation: "nonsense", ...valid(operation), status: 422 },
    {
      operation,
      what: "id is a path",
      conversation: "..%2F..%2Fetc%2Fpasswd",
      ...valid(operation),
      status: 422,
    },
    { operation, what: "id with NUL", conversation: "%00", ...valid(operation), status: 422 },
    {
      operation,
      what: "id half dashed",
      conversation: "000000000000-4000-8000-000000000000",
      ...valid(operation),
      status: 422,
    },
  ]),
  { operation: "getConversations", what: "no ids", status: 422 },
  { operation: "getConversations", what: "bad id", query: "?ids=nonsense", status: 422 },
  {
    operation: "getConversations",
    what: "101 ids",
    query: `?${Array(101).fill(`ids=${missingId}`).join("&")}`,
    status: 422,
  },
  { operation: "searchConversations", what: "limit 0", query: "?limit=0", status: 422 },
  { operation: "searchConversations", what: "limit 101", query: "?limit=101", status: 422 },
  { operation: "searchConversations", what: "bad status", query: "?status=happy", status: 422 },
  { operation: "searchConversations", what: "bad order", query: "?sort_order=UP", status: 422 },
  { operation: "searchConversations", what: "unknown page", query: `?page_id=${missingId}`, status: 422 },
  { operation: "countConversations", what: "bad status", query: "?status=happy", status: 422 },
  { operation: "updateConversation", what: "no body", status: 422 },
  { operation: "updateConversation", what: "empty title", body: { title: "" }, status: 422 },
  { operation: "updateConversation", what: "blank title", body: { title: "  " }, status: 422 },
  { operation: "updateConversation", what: "long title", body: { title: "x".repeat(201) }, status: 422 },
  { operation: "updateConversation", what: "long tag", body: { tags: { a: "x".repeat(257) } }, status: 422 },
  { operation: "updateSecrets", what: "no secrets", body: {}, status: 422 },
  {
    operation: "updateSecrets",
    what: "unknown kind",
    body: { secrets: { A: { kind: "Magic" } } },
    status: 422,
  },
  {
    operation: "setConfirmationPolicy",
    what: "unknown kind",
    body: { policy: { kind: "Maybe" } },
    status: 422,
  },
  {
    operation: "setConfirmationPolicy",
    what: "bad threshold",
    body: { policy: { kind: "ConfirmRisky", threshold: "UNKNOWN" } },
    status: 422,
  },
  {
    operation: "setSecurityAnalyzer",
    what: "unknown kind",
    body: { security_analyzer: { kind: "Magic" } },
    status: 422,
  },
  {
    operation: "setSecurityAnalyzer",
    what: "unsupported kind",
    body: { security_analyzer: { kind: "GraySwanAnalyzer" } },
    status: 422,
  },
  { operation: "askAgent", what: "no body", status: 422 },
  { operation: "getEvent", what: "unknown event", event: missingId, status: 404 },
  { operation: "getEvent", what: "hostile event id", event: "..%2F%00", status: 404 },
  { operation: "getEvents", what: "neither body nor query", status: 422 },
  { operation: "getEvents", what: "not a list", body: { ids: [] }, status: 422 },
  { operation: "getEvents", what: "list of numbers", body: [1], status: 422 },
  { operation: "sendMessage", what: "no body", status: 422 },
  {
    operation: "sendMessage",
    what: "role assistant",
    body: { role: "assistant", content: "hi" },
    status: 422,
  },
  { operation: "sendMessage", what: "unknown role", body: { role: "boss", content: "hi" }, status: 422 },
  { operation: "sendMessage", what: "content of numbers", body: { content: [1] }, status: 422 },
  {
    operation: "sendMessage",
    what: "long client id",
    body: { content: "hi", client_message_id: "x".repeat(201) },
    status: 422,
  },
  { operation: "respondToConfirmation", what: "no answer", body: {}, status: 422 },
  { operation: "respondToConfirmation", what: "answer is text", body: { accept: "yes" }, status: 422 },
];

let server: TestServer;
let conversation = "";
let event = "";
beforeAll(async () => {
  server = await startTestServer({ script: { turns: [{ text: "Hello." }], loop: true } });
  conversation = await server.runTo("finished", "hi");
  const { items } = await server.client.searchEvents(conversation, { kind: "MessageEvent", limit: 1 });
  event = items[0]!.id!;
});
afterAll(() => server[Symbol.asyncDispose]());

test.each([...good, ...bad])("$operation, $what: $status, and the body fits its schema", async (given) => {
  const reply = await call(given);
  expect(reply.status, reply.text).toBe(given.status);
  expectDocumented(given.operation, reply);
});

test("every operation has a case that succeeds", () => {
  const covered = new Set([
    ...good.map(({ operation }) => operation),
    "startConversation",
    "deleteConversation",
  ]);
  // Those of the machine and of the catalogues have tables of their own.
  expect([...covered].sort()).toEqual(Object.keys(agentRoutes).sort());
});

describe("P3: without a key, or with a wrong one", () => {
  test.each(Object.values(agentServerRoutes).map((route) => [route.operationId, route] as const))(
    "%s",
    async (operation, route) => {
      const path = pathOf({ operation, what: "", status: 0 });
      for (const headers of [
        {},
        { "X-Session-API-Key": "wrong" },
        { Authorization: "Bearer wrong" },
      ] as const) {
        const reply = await fetch(`${server.url}${path}`, { method: route.method, headers });
        const text = await reply.text();
        if (route.auth) {
          expect(reply.status).toBe(401);
          expect(JSON.parse(text)).toMatchObject({ detail: "Unauthorized" });
        } else expect(reply.status).toBe(200);
      }
    },
  );
});

test("a page that holds every kind of event of a run fits its schema", async () => {
  const page = await call({ operation: "searchEvents", what: "", status: 200 });
  expect((page.json as { items: object[] }).items.length).toBeGreaterThan(5);
  expectDocumented("searchEvents", page);
});

test("creating and deleting: 201, 200 for a known id, 200, 404", async () => {
  const body = server.startRequest({ conversation_id: "AAAAAAAA-0000-4000-8000-000000000001" });
  const created = await server.call("POST", "/api/conversations", body);
  expect(created.status).toBe(201);
  expectDocumented("startConversation", created);
  const again = await server.call("POST", "/api/conversations", {
    ...body,
    conversation_id: "aaaaaaaa000040008000000000000001",
    max_iterations: 3,
  });
  expect(again.status).toBe(200);
  expectDocumented("startConversation", again);
  expect(again.json).toEqual(created.json);
  const path = "/api/conversations/aaaaaaaa000040008000000000000001";
  for (const status of [200, 404]) {
    const deleted = await server.call("DELETE", path);
    expect(deleted.status).toBe(status);
    expectDocumented("deleteConversation", deleted);
  }
  expect((await server.call("GET", path)).json).toMatchObject({
    detail: "Conversation not found: aaaaaaaa-0000-4000-8000-000000000001",
  });
});

function belowConversation(): AgentServerOperation[] {
  return Object.values(agentRoutes)
    .filter(({ path }) => path.includes("{conversation_id}"))
    .map(({ operationId }) => operationId);
}

function valid(operation: AgentServerOperation): Pick<Case, "body" | "query"> {
  const { body, query } = good.find((item) => item.operation === operation) ?? {};
  return { ...(body === undefined ? {} : { body }), ...(query === undefined ? {} : { query }) };
}

function pathOf(given: Case): string {
  const path = agentServerRoutes[given.operation].path
    .replace("{conversation_id}", given.conversation ?? conversation)
    .replace("{event_id}", given.event ?? event);
  return `${path}${fill(given.query ?? "")}`;
}

function fill(text: string): string {
  return text
    .replaceAll("{id}", conversation)
    .replaceAll("{hex}", conversation.replaceAll("-", ""))
    .replaceAll("{event}", event);
}

/** `fetch` sends no body with GET, so those with one are written by hand. */
async function call(given: Case): Promise<Reply> {
  const { method } = agentServerRoutes[given.operation];
  const body: unknown = given.body === undefined ? undefined : JSON.parse(fill(JSON.stringify(given.body)));
  return method === "GET" && body !== undefined
    ? await server.getWithBody(pathOf(given), body)
    : await server.call(method, pathOf(given), body);
}

function expectDocumented(operation: AgentServerOperation, reply: Reply): void {
  const responses = agentServerRoutes[operation].responses as Record<
    number,
    { schema?: Parameters<typeof validator.check>[0] }
  >;
  expect(Object.keys(responses), `${operation} documents ${reply.status}`).toContain(String(reply.status));
  const { schema } = responses[reply.status]!;
  expect(reply.headers.get("content-type")).toMatch(/^application\/json/);
  if (schema !== undefined)
    expect(validator.check(schema, structuredClone(reply.json))).toMatchObject({ ok: true });
}

const validator = createValidator();
