import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../testing/start-server.ts";

let server: TestServer;
let id = "";
beforeAll(async () => {
  server = await startTestServer();
  ({ id } = await server.createConversation());
});
afterAll(() => server[Symbol.asyncDispose]());

type Detail = { readonly detail: { readonly loc: unknown[]; readonly type: string }[] };

/** Sends a head and then all of `body`, and reads nothing before that is out. */
async function sendThenRead(head: readonly string[], body: Buffer): Promise<string> {
  const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
  await once(socket, "connect");
  const lines = [...head, `host: ${new URL(server.url).host}`, `content-length: ${body.length}`];
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  for (let sent = 0; sent < body.length; sent += 65_536) {
    if (!socket.write(body.subarray(sent, sent + 65_536))) await once(socket, "drain");
  }
  return (await socket.setEncoding("utf8").toArray()).join("");
}

test("security 4: a body of millions of values is refused before they are made, and everybody is served meanwhile", async () => {
  const body = `{"x":[${"[],".repeat(4_000_000)}[]]}`;
  const before = process.threadCpuUsage();
  const reply = await fetch(`${server.url}/api/conversations`, {
    method: "POST",
    body,
    headers: { "x-session-api-key": server.key, "content-type": "application/json" },
  });
  const { user } = process.threadCpuUsage(before);
  expect(reply.status).toBe(422);
  expect(((await reply.json()) as Detail).detail).toMatchObject([{ loc: ["body"], type: "too_many_values" }]);
  // It took more than six seconds, and 700 MB, when they were made.
  expect(user / 1e6).toBeLessThan(4);
});

test("security 4: bodies are small, apart from those that may carry pictures", async () => {
  const padding = "x".repeat(1024 * 1024);
  for (const [method, path] of [
    ["PATCH", "/api/settings"],
    ["PATCH", `/api/conversations/${id}`],
    ["PUT", "/api/settings/secrets"],
    ["POST", `/api/conversations/${id}/pause`],
  ] as const) {
    const reply = await server.call(method, path, { padding });
    expect(reply.status, path).toBe(413);
    expect(reply.json).toMatchObject({
      code: "body_too_large",
      detail: expect.stringContaining("1 MiB"),
    });
  }
  const content = [{ type: "text", text: padding.repeat(3) }];
  expect(await server.call("POST", `/api/conversations/${id}/events`, { content })).toMatchObject({
    status: 200,
  });
});

test("P29, security 36: a client that sends a body over the limit to its end still gets the 413", async () => {
  const head = [
    "PATCH /api/settings HTTP/1.1",
    `x-session-api-key: ${server.key}`,
    "content-type: application/json",
  ];
  const answer = await sendThenRead(head, Buffer.alloc(30_000_000, "x"));
  expect(answer).toMatch(/^HTTP\/1.1 413 /);
  expect(answer.toLowerCase()).toContain("connection: close");
  expect(answer).toContain("body_too_large");
});

test("security 36: a stranger's body is not read on: the answer ends the connection", async () => {
  const head = ["PATCH /api/settings HTTP/1.1", "content-type: application/json"];
  const answer = await sendThenRead(head, Buffer.alloc(1_000_000, "x"));
  expect(answer).toMatch(/^HTTP\/1.1 401 /);
  expect(answer.toLowerCase()).toContain("connection: close");
  const small = await fetch(`${server.url}/api/settings`, { method: "PATCH", body: "{}" });
  expect(small.status).toBe(401);
  expect(small.headers.get("connection")).toBe("keep-alive");
});

test.each([
  ["no body", undefined, undefined],
  ["an empty text", "", "text/plain"],
  ["a text", "stop it", "text/plain"],
  ["a form", "a=b", "application/x-www-form-urlencoded"],
  ["no type", "x", ""],
  ["what is no type", "x", "nonsense"],
  ["broken JSON", "{", "application/json"],
])("contract: where no body is named, %s is taken and dropped", async (_what, body, type) => {
  for (const command of ["pause", "stop", "interrupt"]) {
    const reply = await fetch(`${server.url}/api/conversations/${id}/${command}`, {
      method: "POST",
      headers: {
        "x-session-api-key": server.key,
        ...(type === undefined ? {} : { "content-type": type }),
      },
      ...(body === undefined ? {} : { body }),
    });
    expect(reply.status, `${command}: ${await reply.text()}`).toBe(200);
  }
});

test("contract: an empty body of any type is none where a body may be left out", async () => {
  const reply = await fetch(`${server.url}/api/conversations/${id}/fork`, {
    method: "POST",
    body: "",
    headers: { "x-session-api-key": server.key, "content-type": "text/plain" },
  });
  expect(reply.status).toBe(201);
});

test("contract: all that is wrong with a request is told at once, in path, query and body", async () => {
  const locs = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const reply = await server.call(method, path, body);
    expect(reply.status).toBe(422);
    return (reply.json as Detail).detail.map(({ loc }) => loc.slice(0, 2));
  };
  expect(await locs("GET", "/api/conversations/x/events/search?limit=0&sort_order=up")).toEqual([
    ["path", "conversation_id"],
    ["query", "limit"],
    ["query", "sort_order"],
  ]);
  expect(await locs("PATCH", "/api/conversations/x", { title: 5, tags: 7 })).toEqual([
    ["path", "conversation_id"],
    ["body", "title"],
    ["body", "tags"],
  ]);
  expect(
    await locs("POST", "/api/conversations", { max_iterations: 0, agent_profile_id: "none" }),
  ).toContainEqual(["body", "agent_profile_id"]);
});

test("security 35: a body that is no UTF-8 is a 422, and nothing of it is stored", async () => {
  const reply = await fetch(`${server.url}/api/conversations/${id}/events`, {
    method: "POST",
    headers: { "x-session-api-key": server.key, "content-type": "application/json" },
    body: Buffer.concat([Buffer.from('{"content":"caf'), Buffer.from([0xe9]), Buffer.from('"}')]),
  });
  expect(reply.status).toBe(422);
  expect(((await reply.json()) as Detail).detail).toMatchObject([{ loc: ["body"], type: "unicode_error" }]);
});

test.each([
  ["two Hosts", "GET /alive HTTP/1.1\r\nhost: $H\r\nHost: evil.example\r\n\r\n", 400],
  ["two equal Hosts", "GET /alive HTTP/1.1\r\nhost: $H\r\nhost: $H\r\n\r\n", 400],
  ["another Host in its address", "GET http://evil.example/alive HTTP/1.1\r\nhost: $H\r\n\r\n", 400],
  ["one Host", "GET /alive HTTP/1.1\r\nhost: $H\r\nconnection: close\r\n\r\n", 200],
])("security 32: a request with %s is answered with %i", async (_what, text, status) => {
  const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
  socket.write(text.replaceAll("$H", new URL(server.url).host));
  const answer = (await socket.setEncoding("utf8").toArray()).join("");
  expect(Number(answer.slice(9, 12))).toBe(status);
});

test.each(["/alive", "/docs", "/openapi.json", "/api/settings", "/nowhere", "/server_info", "/%ZZ"])(
  "security 34: the answer of %s is not to be taken for another type",
  async (path) => {
    const reply = await server.call("GET", path);
    expect(reply.headers.get("x-content-type-options")).toBe("nosniff");
  },
);

test("security 34: the page of the routes runs nothing and shows itself in no frame", async () => {
  const { headers } = await server.call("GET", "/docs");
  const policy = headers.get("content-security-policy");
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toContain("script-src");
});
