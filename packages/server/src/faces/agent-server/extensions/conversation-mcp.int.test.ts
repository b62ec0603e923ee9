import type { McpServerInfo, McpServerList } from "@convoke/protocol";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { startMcpHttpServer } from "../../../testing/mcp/http-server.ts";
import { startTestServer, type TestServer } from "../../../testing/start-server.ts";

const program = fileURLToPath(new URL("../../../testing/mcp/stdio-server.ts", import.meta.url));
/** Nothing comes back by itself while a test runs. */
const times = { firstRetryMs: 3_600_000, lastRetryMs: 3_600_000 };

async function start(): Promise<TestServer> {
  return await startTestServer({
    script: { turns: [{ text: "hello" }], loop: true, select: "in_order" },
    mcp: { times, firstWaitMs: 100 },
    environment: { PATH: "/usr/local/bin:/usr/bin:/bin" },
  });
}

async function converse(server: TestServer, mcp: object): Promise<string> {
  const request = server.startRequest({ text: "hi" });
  const { id } = await server.client.startConversation({
    ...request,
    agent: { ...request.agent, mcp_config: mcp as Record<string, object> },
  });
  return id;
}

async function ask(server: TestServer, id: string, name: string): Promise<McpServerInfo | undefined> {
  const { json } = await server.call("GET", `/api/conversations/${id}/mcp`);
  return (json as McpServerList).items.find((item) => item.name === name);
}

test("S22: the state of each MCP server of a conversation is returned, and a failed one is reconnected", async () => {
  await using server = await start();
  await using broken = await startMcpHttpServer("error");
  await using closed = await startMcpHttpServer("refuse-key");
  const id = await converse(server, {
    good: { command: process.execPath, args: [program, "good"] },
    broken: { url: broken.url, headers: { "x-key": "it is broken" } },
    closed: { url: closed.url },
  });
  await expect
    .poll(() => ask(server, id, "good"))
    .toEqual({
      name: "good",
      transport: "stdio",
      state: "connected",
      error: null,
      tools: ["echo", "environment"],
      retry_at: null,
    });
  await expect.poll(() => ask(server, id, "broken")).toMatchObject({ transport: "http", state: "failed" });
  const failed = (await ask(server, id, "broken"))!;
  // It answers with its own key in its words.
  expect(failed.error).toBe("Error POSTing to endpoint: <secret-hidden>.");
  expect(Date.parse(failed.retry_at!)).toBeGreaterThan(Date.now());
  await expect.poll(() => ask(server, id, "closed")).toMatchObject({ state: "needs_login", tools: [] });

  broken.mode = "good";
  const path = `/api/conversations/${id}/mcp/broken/reconnect`;
  const { status, json } = await server.call("POST", path);
  expect([status, (json as McpServerList).items.map(({ name }) => name)]).toEqual([
    200,
    ["good", "broken", "closed"],
  ]);
  const works = { state: "connected", error: null, tools: ["read", "write"], retry_at: null };
  await expect.poll(() => ask(server, id, "broken")).toMatchObject(works);
  // Also one that works is connected again.
  const before = broken.requests.length;
  await server.call("POST", path);
  await expect.poll(() => broken.requests.length).toBeGreaterThan(before);
  await expect.poll(() => ask(server, id, "broken")).toMatchObject(works);
});

test("S22: servers of a conversation are those of its owner, and only those that it has", async () => {
  await using server = await start();
  await using http = await startMcpHttpServer();
  const id = await converse(server, { one: { url: http.url } });
  const unknown = await server.call("POST", `/api/conversations/${id}/mcp/two/reconnect`);
  expect([unknown.status, unknown.json]).toMatchObject([404, { code: "mcp_server_not_found" }]);
  const made = await server.call("POST", "/api/keys", { user: "ada" });
  const ada = { "X-Session-API-Key": (made.json as { key: string }).key };
  expect((await server.call("GET", `/api/conversations/${id}/mcp`, undefined, ada)).status).toBe(404);
  expect(
    (await server.call("POST", `/api/conversations/${id}/mcp/one/reconnect`, undefined, ada)).status,
  ).toBe(404);
  const { id: none } = await server.client.startConversation(server.startRequest({ text: "hi" }));
  expect((await server.call("GET", `/api/conversations/${none}/mcp`)).json).toEqual({ items: [] });
});
