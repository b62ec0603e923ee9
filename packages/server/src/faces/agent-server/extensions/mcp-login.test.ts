import { readFile, readdir } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startOAuthMcpServer, type OAuthMcpServer } from "../../../testing/mcp/oauth-server.ts";
import { startTestServer, type TestServer } from "../../../testing/start-server.ts";

const script = { turns: [{ tool_calls: [{ name: "read", arguments: {} }] }, { text: "done" }], loop: true };

let server: TestServer;
let mcp: OAuthMcpServer;
beforeAll(async () => {
  server = await startTestServer({
    script,
    config: { allowedHosts: ["agents.example.org"] },
    // The agent needs its server from the beginning, however slow it is.
    mcp: { firstWaitMs: 20_000 },
  });
});
afterAll(() => server[Symbol.asyncDispose]());
beforeEach(async () => {
  mcp = await startOAuthMcpServer();
  return () => mcp[Symbol.asyncDispose]();
});

type Login = {
  readonly job_id: string;
  readonly authorization_url: string;
  readonly oauth_state: Record<string, { access_token: string }>;
};

const target = (auth: unknown = { strategy: "oauth2" }) => ({ type: "http", url: mcp.url, auth });

async function start(): Promise<Login> {
  const { json, status } = await server.call("POST", "/api/mcp/oauth/start", { server: target() });
  expect(status).toBe(200);
  expect(json).toMatchObject({ ok: true, job_id: expect.any(String), authorization_url: expect.any(String) });
  return json as Login;
}

const statusOf = async (id: string) => await server.call("GET", `/api/mcp/oauth/status/${id}`);
const handOver = async (id: string, url: string) =>
  await server.call("POST", `/api/mcp/oauth/callback/${id}`, { callback_url: url });

async function logIn(): Promise<Login> {
  const login = await start();
  const { json } = await handOver(login.job_id, await mcp.consent(login.authorization_url));
  return { ...login, ...(json as object) };
}

describe("logins to MCP servers", () => {
  test("a person consents, the client hands the address over, and gets tokens that only this server can read", async () => {
    const login = await start();
    expect((await statusOf(login.job_id)).json).toMatchObject({
      ok: true,
      status: "authorizing",
      callback_ready: true,
    });
    const asked = new URL(login.authorization_url).searchParams;
    expect(asked.get("code_challenge_method")).toBe("S256");
    expect(asked.get("redirect_uri")).toBe(`${server.url}/api/mcp/oauth/callback`);
    const back = await mcp.consent(login.authorization_url);
    const finished = await handOver(login.job_id, back);
    expect(finished.json).toMatchObject({
      ok: true,
      status: "succeeded",
      callback_ready: false,
      tools: ["read"],
    });
    expect((finished.json as Login).oauth_state).toMatchObject({
      tokens: {
        access_token: expect.stringMatching(/^sealed:/),
        refresh_token: expect.stringMatching(/^sealed:/),
      },
      client_info: { client_id: expect.any(String) },
      token_expires_at: expect.any(Number),
    });
    expect((await statusOf(login.job_id)).json).toMatchObject({ status: "succeeded", tools: ["read"] });
    expect((await handOver(login.job_id, back)).status).toBe(409);
    expect(mcp.grants).toEqual(["authorization_code"]);
    for (const text of await filesOf(server.dataDir)) {
      expect(text).not.toContain(mcp.tokens.access);
      expect(text).not.toContain(mcp.tokens.refresh);
    }
  });

  test("an address with another state, or another address, changes nothing", async () => {
    const { job_id: id, authorization_url: url } = await start();
    const back = new URL(await mcp.consent(url));
    const forged = new URL(back);
    forged.searchParams.set("state", "x".repeat(43));
    expect((await handOver(id, forged.href)).json).toMatchObject({ code: "bad_request" });
    expect((await handOver(id, `http://evil.example${back.pathname}${back.search}`)).status).toBe(400);
    expect((await handOver(id, "no address")).status).toBe(400);
    expect((await fetch(forged)).status).toBe(400);
    expect((await statusOf(id)).json).toMatchObject({ status: "authorizing" });
    expect(mcp.grants).toEqual([]);
    expect((await handOver(id, back.href)).json).toMatchObject({ status: "succeeded" });
  });

  test("a refusal, a wrong code and a server without logins are reported", async () => {
    const refused = await start();
    const back = new URL(`${server.url}/api/mcp/oauth/callback?error=access_denied&error_description=No`);
    back.searchParams.set("state", new URL(refused.authorization_url).searchParams.get("state") ?? "");
    expect((await handOver(refused.job_id, back.href)).json).toMatchObject({
      ok: false,
      status: "failed",
      error: expect.stringContaining("No"),
    });
    const wrong = await start();
    const made = new URL(await mcp.consent(wrong.authorization_url));
    made.searchParams.set("code", "made-up");
    expect((await handOver(wrong.job_id, made.href)).json).toMatchObject({ ok: false, status: "failed" });
    expect(new Set(mcp.refusals)).toEqual(new Set(["unknown code"]));
    const none = await server.call("POST", "/api/mcp/oauth/start", { server: target("a-bearer-token") });
    expect(none.status).toBe(400);
    const gone = { type: "http", url: "http://127.0.0.1:9/mcp", auth: { strategy: "oauth2" } };
    expect((await server.call("POST", "/api/mcp/oauth/start", { server: gone })).json).toMatchObject({
      ok: false,
      error_kind: "connection",
    });
  });

  test("a login is its user's: for another one it is not there", async () => {
    const { job_id: id, authorization_url: url } = await start();
    await using keys = await server.openKeys();
    const { key } = await keys.store.create("bob", "");
    const as = { "X-Session-API-Key": key };
    expect((await server.call("GET", `/api/mcp/oauth/status/${id}`, undefined, as)).status).toBe(404);
    const body = { callback_url: await mcp.consent(url) };
    expect((await server.call("POST", `/api/mcp/oauth/callback/${id}`, body, as)).json).toMatchObject({
      code: "mcp_login_not_found",
    });
    expect((await statusOf(id)).json).toMatchObject({ status: "authorizing" });
  });

  test("the browser comes back by itself to this machine; elsewhere it has to be the one that began", async () => {
    const here = await start();
    const page = await fetch(await mcp.consent(here.authorization_url));
    expect(await page.text()).toContain("You are logged in");
    expect(page.headers.get("referrer-policy")).toBe("no-referrer");
    expect((await statusOf(here.job_id)).json).toMatchObject({ status: "succeeded" });

    const began = await askAt("agents.example.org", "POST", "/api/mcp/oauth/start", { server: target() });
    const there = JSON.parse(began.text) as Login;
    const back = new URL(await mcp.consent(there.authorization_url));
    expect(back.host).toBe("agents.example.org");
    const path = back.pathname + back.search;
    expect((await askAt(back.host, "GET", path)).text).toContain("One more step");
    expect((await statusOf(there.job_id)).json).toMatchObject({ status: "authorizing" });
    const cookie = began.cookie.split(";")[0]!;
    expect(began.cookie).toMatch(/HttpOnly; SameSite=Lax/);
    expect((await askAt(back.host, "GET", path, undefined, { cookie })).text).toContain("You are logged in");
    expect((await statusOf(there.job_id)).json).toMatchObject({ status: "succeeded" });
  });

  test("tokens are refreshed, the new ones outlive a restart, and every conversation has them", async () => {
    const { oauth_state: state } = await logIn();
    const auth = { strategy: "oauth2", state };
    expect(await run({ one: target(auth) })).toContain("did read");
    mcp.expire();
    const both = await Promise.all([run({ one: target(auth) }), run({ one: target("oauth") })]);
    for (const text of both) expect(text).toContain("did read");
    expect(mcp.grants).toEqual(["authorization_code", "refresh_token"]);
    await server.restart();
    mcp.expire();
    expect(await run({ one: target(auth) })).toContain("did read");
    expect(await run({ one: target("oauth") })).toContain("did read");
    const tried = await server.call("POST", "/api/mcp/test", { server: target(auth) });
    expect(tried.json).toEqual({ ok: true, tools: ["read"] });
    expect(mcp.refusals).toEqual([]);
  });
});

async function run(config: object): Promise<string> {
  const start = { ...server.startRequest({ text: "Read it." }) } as { agent: object };
  const created = await server.call("POST", "/api/conversations", {
    ...start,
    agent: { ...start.agent, mcp_config: config },
  });
  expect(created.status, created.text).toBe(201);
  const { id } = created.json as { id: string };
  await server.waitForStatus(id, "finished", 20_000);
  const text = JSON.stringify(await server.events(id));
  expect(text).not.toContain(mcp.tokens.access);
  return text;
}

/** Everything below a folder as text, whatever it is; without drafts, which are renamed while it is read. */
async function filesOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && !entry.name.endsWith(".draft"));
  return await Promise.all(files.map((file) => readFile(join(file.parentPath, file.name), "latin1")));
}

/** `fetch` lets nobody choose the Host. */
async function askAt(
  host: string,
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
