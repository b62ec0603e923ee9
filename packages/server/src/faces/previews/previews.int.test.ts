import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { allowedEnvironment } from "@convoke/tool-host";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, type Reply, type TestServer } from "../../testing/start-server.ts";

/** Tells what reaches it. */
const program = `
  const http = require("node:http");
  const server = http.createServer((request, response) => {
    if (request.url === "/endless") return response.write("begun");
    if (request.url === "/away") return response.writeHead(302, { location: "/there" }).end();
    response.setHeader("set-cookie", "own=1; Path=/");
    response.setHeader("access-control-allow-origin", "*");
    response.setHeader("clear-site-data", "*");
    response.end(JSON.stringify({ url: request.url, method: request.method, headers: request.headers }));
  });
  server.listen(0, "127.0.0.1", () => console.log(server.address().port));
`;

let server: TestServer;
let strangerKey = "";
let localKey = "";
let localKeyId = "";
const started: ChildProcess[] = [];
beforeAll(async () => {
  server = await startTestServer({
    times: { keyCheckEveryMs: 20 },
    environment: allowedEnvironment({ PATH: process.env["PATH"], HOME: "/nonexistent" }),
  });
  await using keys = await server.openKeys();
  strangerKey = (await keys.store.create("bob", "")).key;
  ({
    key: localKey,
    entry: { id: localKeyId },
  } = await keys.store.create("local", ""));
});
afterAll(async () => {
  for (const child of started) child.kill("SIGKILL");
  await server[Symbol.asyncDispose]();
});

async function run(cwd: string): Promise<{ readonly port: number; readonly child: ChildProcess }> {
  const child = spawn(process.execPath, ["-e", program], { cwd, stdio: ["ignore", "pipe", "inherit"] });
  started.push(child);
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  return { port: Number(line.toString()), child };
}

async function openPreview(id: string, port: number): Promise<string> {
  const { status, json } = await server.call("POST", `/api/conversations/${id}/previews`, { port });
  expect(status).toBe(201);
  return `/${(json as { path: string }).path}`;
}

const newConversation = async (): Promise<string> => (await server.createConversation()).id;

/** As a browser asks, without a key. */
const ask = (path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`${server.url}${path}`, { redirect: "manual", ...init });

test("a program of the workspace is listed and shown at an address of its own, with what it was asked", async () => {
  const id = await newConversation();
  const { port } = await run(server.workspaceDir);
  const { json } = await server.call("GET", `/api/conversations/${id}/ports`);
  expect((json as { items: object[] }).items).toContainEqual({
    port,
    program: process.execPath.split("/").at(-1),
  });
  const path = await openPreview(id, port);
  const answer = await ask(`${path}deep/page?a=b`, { method: "POST", body: "x" });
  expect(await answer.json()).toMatchObject({ url: "/deep/page?a=b", method: "POST" });
  expect((await ask(path.slice(0, -1))).headers.get("location")).toBe(path.replace("/previews/", ""));
  expect((await ask(`${path}away`)).headers.get("location")).toBe(`${path}there`);
});

test("U21: a preview has an opaque origin, gets no key and no cookie of this server, and sets nothing for the whole server", async () => {
  const id = await newConversation();
  const { port } = await run(server.workspaceDir);
  const path = await openPreview(id, port);
  const answer = await ask(path, {
    headers: {
      cookie: "convoke_8000=half-of-a-login; oh_workspace_session_key=sealed",
      "x-session-api-key": server.key,
      "x-convoke-proof": "the other half",
      referer: `${server.url}${path}`,
      origin: "null",
    },
  });
  const text = await answer.text();
  for (const secret of ["half", server.key, "sealed", path.slice(10, 40)]) {
    expect(text.replace(/"x-forwarded-prefix":"[^"]*"/, "")).not.toContain(secret);
  }
  const policy = answer.headers.get("content-security-policy");
  expect(policy).toMatch(/^sandbox /);
  expect(policy).not.toContain("allow-same-origin");
  expect(answer.headers.get("clear-site-data")).toBeNull();
  expect(answer.headers.get("access-control-allow-origin")).toBe("null");
  expect(answer.headers.get("set-cookie")).toMatch(new RegExp(`^sandbox\\..*Path=${path}$`));
  // With what the page has it reaches its own program, and nothing of this server.
  const api = `/api/conversations/${id}`;
  for (const headers of [{ origin: "null" }, { origin: "null", "x-session-api-key": server.key }]) {
    expect((await ask(api, { headers })).status).toBe(403);
    expect((await ask(api, { method: "DELETE", headers })).status).toBe(403);
  }
  expect((await server.call("GET", api)).status).toBe(200);
});

test("U21: the address of one port gives no access to another, and an altered address gives none", async () => {
  const id = await newConversation();
  const { port } = await run(server.workspaceDir);
  const path = await openPreview(id, port);
  const at = Math.floor(path.length / 2);
  const altered = `${path.slice(0, at)}${path[at] === "A" ? "B" : "A"}${path.slice(at + 1)}`;
  for (const wrong of [altered, `/previews/${"x".repeat(120)}/`]) {
    const refused = await ask(wrong);
    expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([
      404,
      "preview_over",
    ]);
  }
  const inside = await ask(`${path}../../api/conversations/${id}`);
  expect(inside.status).toBe(401);
});

test("U21: only ports of programs in the workspace are shown, never the server's own, and none that has ended", async () => {
  const id = await newConversation();
  const elsewhere = await run("/");
  const own = Number(new URL(server.url).port);
  for (const port of [elsewhere.port, own, 1]) {
    const refused = await server.call("POST", `/api/conversations/${id}/previews`, { port });
    expect([port, refused.status, (refused.json as { code: string }).code]).toEqual([
      port,
      404,
      "port_not_listening",
    ]);
  }
  const { port, child } = await run(server.workspaceDir);
  const path = await openPreview(id, port);
  child.kill("SIGKILL");
  await once(child, "exit");
  await expect.poll(async () => (await ask(path)).status).toBe(404);
});

test("U21: nobody else lists or shows what a workspace serves, and a preview ends with the key it was made with", async () => {
  const id = await newConversation();
  const { port } = await run(server.workspaceDir);
  const as = (key: string, method: string, path: string, body?: unknown): Promise<Reply> =>
    server.call(method, path, body, { "X-Session-API-Key": key });
  for (const [key, status] of [
    [strangerKey, 404],
    ["wrong", 401],
  ] as const) {
    expect((await as(key, "GET", `/api/conversations/${id}/ports`)).status).toBe(status);
    expect((await as(key, "POST", `/api/conversations/${id}/previews`, { port })).status).toBe(status);
  }
  const theirs = (await as(strangerKey, "POST", "/api/conversations", server.startRequest())).json as {
    id: string;
  };
  const refused = await as(strangerKey, "POST", `/api/conversations/${theirs.id}/previews`, { port });
  expect([refused.status, (refused.json as { code: string }).code]).toEqual([403, "machine_refused"]);
  const { json } = await as(localKey, "POST", `/api/conversations/${id}/previews`, { port });
  const path = `/${(json as { path: string }).path}`;
  expect((await ask(path)).status).toBe(200);
  const endless = await ask(`${path}endless`);
  await using keys = await server.openKeys();
  await keys.store.revoke(localKeyId);
  await expect(endless.text()).rejects.toThrow();
  await expect.poll(async () => (await ask(path)).status).toBe(404);
});
