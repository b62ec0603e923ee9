import { request } from "node:http";
import { expect, test } from "vitest";
import { startOAuthMcpServer, type OAuthMcpServer } from "../../../testing/mcp/oauth-server.ts";
import { startTestServer, type TestServer } from "../../../testing/start-server.ts";
import { readTestedStore } from "../../../testing/tested-store.ts";

const host = "agents.example.org";
const script = { turns: [{ tool_calls: [{ name: "read", arguments: {} }] }, { text: "done" }], loop: true };

type Login = { readonly job_id: string; readonly authorization_url: string };
type Two = AsyncDisposable & {
  readonly one: TestServer;
  readonly other: TestServer;
  readonly mcp: OAuthMcpServer;
};

/** Two servers on one store. */
async function openTwo(): Promise<Two> {
  await using scope = new AsyncDisposableStack();
  const mcp = scope.use(await startOAuthMcpServer());
  const store = { ...(await readTestedStore()), allowedHosts: [host] };
  const common = { script, mcp: { firstWaitMs: 20_000 } };
  const one = scope.use(await startTestServer({ ...common, config: store }));
  const folder = store.database ? {} : { dataDir: one.dataDir };
  const config = { ...store, ...folder, workspaceRoot: one.workspaceDir };
  const other = scope.use(await startTestServer({ ...common, config }));
  const owned = scope.move();
  return { one, other, mcp, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

const target = (mcp: OAuthMcpServer) => ({ type: "http", url: mcp.url, auth: { strategy: "oauth2" } });

async function begin(server: TestServer, mcp: OAuthMcpServer): Promise<Login> {
  return (await server.call("POST", "/api/mcp/oauth/start", { server: target(mcp) })).json as Login;
}

const statusAt = async (server: TestServer, id: string) =>
  await server.call("GET", `/api/mcp/oauth/status/${id}`);

test("a login that one server began is looked at and completed at another, by its user alone", async () => {
  await using two = await openTwo();
  const { one, other, mcp } = two;
  const { job_id: id, authorization_url: url } = await begin(one, mcp);
  expect((await statusAt(other, id)).json).toMatchObject({ ok: true, status: "authorizing" });
  await using keys = await one.openKeys();
  const { key } = await keys.store.create("bob", "");
  const path = `/api/mcp/oauth/status/${id}`;
  await expect
    .poll(async () => (await other.call("GET", path, undefined, { "X-Session-API-Key": key })).status)
    .toBe(404);
  const body = { callback_url: await mcp.consent(url) };
  expect((await other.call("POST", `/api/mcp/oauth/callback/${id}`, body)).json).toMatchObject({
    status: "succeeded",
    tools: ["read"],
  });
  expect((await statusAt(one, id)).json).toMatchObject({ status: "succeeded" });
});

test("a browser that returns to another node is identified by its cookie from the beginning", async () => {
  await using two = await openTwo();
  const { one, other, mcp } = two;
  const began = await askAt(one, "POST", "/api/mcp/oauth/start", { server: target(mcp) });
  const { job_id: id, authorization_url: url } = JSON.parse(began.text) as Login;
  const back = new URL(await mcp.consent(url));
  expect(back.host).toBe(host);
  const path = back.pathname + back.search;
  expect((await askAt(other, "GET", path)).text).toContain("One more step");
  const cookie = began.cookie.split(";")[0]!;
  expect((await askAt(other, "GET", path, undefined, { cookie })).text).toContain("You are logged in");
  expect((await statusAt(other, id)).json).toMatchObject({ status: "succeeded" });
});

test("a login whose node has ended is reported as missing", async () => {
  await using two = await openTwo();
  const { one, other, mcp } = two;
  const { job_id: id, authorization_url: url } = await begin(one, mcp);
  const back = new URL(await mcp.consent(url));
  await one.close();
  expect((await statusAt(other, id)).json).toMatchObject({ code: "mcp_login_not_found" });
  const page = await fetch(new URL(back.pathname + back.search, other.url));
  expect(await page.text()).toContain("Nothing waits for this login");
});

test("tokens that two servers need at once are refreshed once", async () => {
  await using two = await openTwo();
  const { one, other, mcp } = two;
  const { job_id: id, authorization_url: url } = await begin(one, mcp);
  await one.call("POST", `/api/mcp/oauth/callback/${id}`, { callback_url: await mcp.consent(url) });
  mcp.expire();
  const tries = [one, other, one, other].map((server) =>
    server.call("POST", "/api/mcp/test", { server: target(mcp) }),
  );
  for (const { json } of await Promise.all(tries)) expect(json).toEqual({ ok: true, tools: ["read"] });
  expect(mcp.grants).toEqual(["authorization_code", "refresh_token"]);
  expect(mcp.refusals).toEqual([]);
});

/** `fetch` lets nobody choose the Host. */
async function askAt(
  server: TestServer,
  method: string,
  path: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<{ text: string; cookie: string }> {
  const { port } = new URL(server.url);
  return await new Promise((resolve, reject) => {
    const all = { host, "x-session-api-key": server.key, "content-type": "application/json", ...headers };
    const sent = request({ port, host: "127.0.0.1", method, path, headers: all }, (reply) => {
      let text = "";
      reply.on("data", (chunk: Buffer) => (text += chunk.toString("utf8")));
      reply.on("end", () => resolve({ text, cookie: reply.headers["set-cookie"]?.[0] ?? "" }));
    });
    sent.on("error", reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
