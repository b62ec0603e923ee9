import { mkdir, symlink, writeFile } from "node:fs/promises";
import { request, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { inflateRawSync } from "node:zlib";
import { workspaceRoutes, type Route } from "@convoke/protocol";
import { DesktopClient, VSCodeClient } from "@openhands/typescript-client/clients";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, type Reply, type TestServer } from "../../../testing/start-server.ts";
import { TestSocket } from "../../../testing/test-socket.ts";

const canary = "canary-secret-90210";

let server: TestServer;
let conversation = "";
let strangerKey = "";
let strangerKeyId = "";
beforeAll(async () => {
  server = await startTestServer({
    script: { turns: [{ text: "Hello." }], loop: true },
    config: { uploadLimitBytes: 50 * 1024 * 1024 },
    times: { keyCheckEveryMs: 20 },
  });
  conversation = await server.runTo("finished", "hi", {
    secrets: { TOKEN: { kind: "StaticSecret", value: canary } },
  });
  await using keys = await server.openKeys();
  const made = await keys.store.create("bob", "");
  strangerKey = made.key;
  strangerKeyId = made.entry.id;
});
afterAll(() => server[Symbol.asyncDispose]());

const asStranger = (method: string, path: string, body?: unknown): Promise<Reply> =>
  server.call(method, path, body, { "X-Session-API-Key": strangerKey });

describe("who may reach the server's machine", () => {
  const routes: readonly Route[] = Object.values(workspaceRoutes);
  const ofMachine = routes.filter(
    ({ path }) => /^\/api\/(bash|file|git)\//.test(path) && !path.includes("{conversation_id}"),
  );
  const send = async (route: Route, headers: Record<string, string>): Promise<number> => {
    const filled = route.path
      .replace("{path}", "tmp")
      .replace("{event_id}", "0".repeat(32))
      .replace("{sha}", "abcd");
    const form = new FormData();
    form.append("file", new Blob(["x"]), "x");
    const hasBody = route.body !== undefined && route.method === "POST";
    const reply = await fetch(`${server.url}${filled}?path=/nowhere/at/all`, {
      method: route.method,
      headers: { ...headers, ...(hasBody ? { "Content-Type": "application/json" } : {}) },
      ...(route.form === undefined ? {} : { body: form }),
      ...(hasBody ? { body: JSON.stringify({ command: "true" }) } : {}),
    });
    await reply.arrayBuffer();
    return reply.status;
  };

  test("the table has its routes", () => {
    expect(ofMachine.length).toBeGreaterThan(18);
  });

  test.each(ofMachine.map((route) => [route.operationId, route] as const))(
    "P3: without a key 401, with another user's 403, in a cookie 401: %s",
    async (_operation, route) => {
      expect(await send(route, {})).toBe(401);
      expect(await send(route, { "X-Session-API-Key": strangerKey })).toBe(403);
      const { headers } = await server.call("POST", "/api/auth/workspace-session");
      const cookie = (headers.get("set-cookie") ?? "").split(";", 1)[0] ?? "";
      expect(await send(route, { Cookie: cookie })).toBe(401);
    },
  );

  test("the socket of commands closes for a user who may not, and for a revoked key", async () => {
    using socket = new TestSocket(`${server.url}/sockets/bash-events?session_api_key=${strangerKey}`);
    expect(await socket.closed).toMatchObject({ code: 4001 });
  });

  test("whoever runs the server can allow a user; that one's commands stay apart, and its revoked key ends its socket", async () => {
    await using open = await startTestServer({
      config: { machineUsers: ["local", "bob"] },
      times: { keyCheckEveryMs: 20 },
    });
    await using keys = await open.openKeys();
    const { key, entry } = await keys.store.create("bob", "");
    const own = await open.call("POST", "/api/bash/execute_bash_command", { command: "echo own" });
    expect(own.json).toMatchObject({ stdout: "own\n" });
    const { id } = own.json as { id: string };
    const asBob = { "X-Session-API-Key": key };
    expect((await open.call("GET", `/api/bash/bash_events/${id}`, undefined, asBob)).status).toBe(404);
    expect((await open.call("GET", "/api/bash/bash_events/search", undefined, asBob)).json).toMatchObject({
      items: [],
    });
    expect((await open.call("DELETE", "/api/bash/bash_events", undefined, asBob)).json).toEqual({
      cleared_count: 0,
    });
    using socket = new TestSocket(`${open.url}/sockets/bash-events?session_api_key=${key}`);
    expect(await socket.opened).toBe("open");
    await keys.store.revoke(entry.id);
    expect(await socket.closed).toMatchObject({ code: 4001 });
  });
});

describe("P13: no output shows the server's own key, a user's secret, or the server's environment", () => {
  test("in a command, its output, its record", async () => {
    await server.call("POST", "/api/v1/secrets", { name: "MINE", value: canary });
    const command = `echo ${server.key} ${canary}; env; cat ${join(server.dataDir, "session-api-key")} || true`;
    const reply = await server.call("POST", "/api/bash/execute_bash_command", { command });
    expect(reply.status).toBe(200);
    const record = await server.call("GET", "/api/bash/bash_events/search");
    for (const text of [reply.text, record.text]) {
      expect(text).not.toContain(server.key);
      expect(text).not.toContain(canary);
      expect(text).not.toMatch(/OH_|SESSION_API_KEY=|npm_config/);
    }
  });
});

describe("P29: what is too large is a 413 that names the limit, before anything of it is read", () => {
  test.each([
    ["/api/file/upload?path=/nowhere", "multipart/form-data; boundary=x", 51, "upload_too_large", "50 MiB"],
    ["/api/bash/start_bash_command", "application/json", 2, "body_too_large", "1 MiB"],
  ])("%s", async (path, type, mebibytes, code, limit) => {
    const reply = await new Promise<IncomingMessage>((resolve, reject) => {
      const headers = {
        "x-session-api-key": server.key,
        "content-type": type,
        "content-length": mebibytes * 1024 * 1024,
      };
      const sent = request(`${server.url}${path}`, { method: "POST", headers }, resolve);
      sent.once("error", reject).flushHeaders();
    });
    const text = Buffer.concat(await reply.toArray()).toString("utf8");
    reply.destroy();
    expect(reply.statusCode).toBe(413);
    expect(JSON.parse(text)).toMatchObject({ code, detail: expect.stringContaining(limit) as unknown });
  });
});

describe("a conversation's files for browsers", () => {
  const base = (): string => `/api/conversations/${conversation}/workspace`;
  const cookieOf = async (headers: Record<string, string> = {}): Promise<string> => {
    const reply = await server.call("POST", "/api/auth/workspace-session", undefined, headers);
    expect(reply.status).toBe(204);
    return reply.headers.get("set-cookie") ?? "";
  };
  const get = async (path: string, cookie: string): Promise<Response> =>
    await fetch(`${server.url}${path}`, { headers: { Cookie: cookie.split(";", 1)[0] ?? "" } });

  test("W9: the cookie is short-lived, scoped, and holds no key; it opens the files and nothing else", async () => {
    await writeFile(join(server.workspaceDir, "index.html"), "<h1>hi</h1>");
    await mkdir(join(server.workspaceDir, "sub dir"), { recursive: true });
    await writeFile(join(server.workspaceDir, "sub dir", "style é.css"), "a{}");
    const cookie = await cookieOf();
    expect(cookie).toMatch(
      /^oh_workspace_session_key=v1\.\S+; HttpOnly; Max-Age=3600; Path=\/api\/conversations; SameSite=None; Secure; Partitioned$/,
    );
    expect(cookie).not.toContain(server.key);
    const page = await get(base(), cookie);
    expect(page.status).toBe(200);
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(page.headers.get("content-security-policy")).toContain("sandbox");
    expect(page.headers.get("content-security-policy")).not.toContain("allow-same-origin");
    expect(await page.text()).toBe("<h1>hi</h1>");
    const style = await get(`${base()}/sub%20dir/style%20%C3%A9.css`, cookie);
    expect(style.headers.get("content-type")).toBe("text/css; charset=utf-8");
    expect((await server.call("GET", `${base()}/index.html`)).status).toBe(200);
    for (const path of [`/api/conversations/${conversation}`, "/api/conversations/search", "/api/settings"]) {
      expect((await get(path, cookie)).status).toBe(401);
    }
    expect((await get(base(), "")).status).toBe(401);
    expect((await get(base(), cookie.replace("v1.", "v1.x"))).status).toBe(401);
    expect((await get(base(), `oh_workspace_session_key=${server.key}`)).status).toBe(401);
  });

  test("another user's cookie does not open it, and a revoked key's opens nothing", async () => {
    const cookie = await cookieOf({ "X-Session-API-Key": strangerKey });
    expect((await get(base(), cookie)).status).toBe(404);
    await using keys = await server.openKeys();
    await keys.store.revoke(strangerKeyId, strangerKey);
    expect((await get(base(), cookie)).status).toBe(401);
    strangerKey = (await keys.store.create("bob", "")).key;
  });

  test("security 21: the cookie opens nothing for a page of another origin, not even of another port", async () => {
    const Cookie = (await cookieOf()).split(";", 1)[0]!;
    const statusFor = async (origin: string | null) => {
      const headers = { Cookie, ...(origin === null ? {} : { Origin: origin }) };
      return (await fetch(`${server.url}${base()}/index.html`, { headers })).status;
    };
    expect(await statusFor(null)).toBe(200);
    expect(await statusFor(server.url)).toBe(200);
    expect(await statusFor("http://127.0.0.1:3000")).toBe(401);
    expect(await statusFor("http://localhost:3000")).toBe(401);
  });

  test("security 42: a page has an address of its own, which opens what is beside it and nothing else", async () => {
    const cookie = await cookieOf({ "X-Session-API-Key": server.key });
    await mkdir(join(server.workspaceDir, "docs"), { recursive: true });
    await writeFile(join(server.workspaceDir, "docs", "index.html"), "docs");
    const page = await fetch(`${server.url}${base()}/?a=b`, {
      headers: { Cookie: cookie.split(";", 1)[0]! },
      redirect: "manual",
    });
    expect(page.status).toBe(302);
    const address = page.headers.get("location")!;
    expect(address).toMatch(/\/workspace\/~page\.[^/]+\/\?a=b$/);
    const below = (rest: string, headers: Record<string, string> = {}) =>
      fetch(`${server.url}${address.replace(/\?.*/, "")}${rest}`, { headers });
    const style = await below("sub%20dir/style%20%C3%A9.css", { Origin: "null" });
    expect(style.status).toBe(200);
    expect(style.headers.get("access-control-allow-origin")).toBe("null");
    expect(style.headers.get("referrer-policy")).toBe("no-referrer");
    expect((await below("")).status).toBe(200);
    expect((await below("..%2f..%2fetc/passwd")).status).toBe(400);
    const folder = await get(`${base()}/docs`, cookie);
    expect(folder.url).toMatch(/\/docs\/$/);
    const { id: other } = await server.createConversation();
    const elsewhere = address.replace(conversation, other);
    expect((await fetch(`${server.url}${elsewhere}`)).status).toBe(401);
    const altered = address.replace("~page.v1.", "~page.v1.A");
    expect(
      (await fetch(`${server.url}${altered}`, { headers: { Origin: "https://evil.example" } })).status,
    ).toBe(401);
    expect((await fetch(`${server.url}${address.replace(/workspace\/.*/, "events/search")}`)).status).toBe(
      401,
    );
  });

  test("P3: without keys a foreign page cannot dress its request up as one of a page", async () => {
    await using open = await startTestServer({ config: { isAuthDisabled: true } });
    const { id } = await open.createConversation();
    await writeFile(join(open.workspaceDir, "index.html"), "secret");
    const path = `/api/conversations/${id}/workspace`;
    expect((await fetch(`${open.url}${path}/`)).status).toBe(200);
    for (const rest of ["/", "/~page.x/"]) {
      const headers = { Origin: "https://evil.example" };
      expect((await fetch(`${open.url}${path}${rest}`, { headers })).status).toBe(403);
    }
  });

  test("taking it back clears it", async () => {
    const reply = await server.call("DELETE", "/api/auth/workspace-session");
    expect(reply.status).toBe(204);
    expect(reply.headers.get("set-cookie")).toContain("Max-Age=0");
  });

  test.each([
    ["%2e%2e%2f%2e%2e%2fetc%2fpasswd", 400],
    ["..%2f..%2fetc/passwd", 400],
    ["%2fetc%2fpasswd", 404],
    ["%00", 400],
    ["link/passwd", 400],
    ["absent", 404],
    ["sub%20dir", 404],
  ])("P31: %s leads nowhere", async (path, status) => {
    await symlink("/etc", join(server.workspaceDir, "link")).catch(() => {});
    const reply = await server.call("GET", `${base()}/${path}`);
    expect(reply.status).toBe(status);
    expect(reply.text).not.toContain("root:");
  });
});

test("P13: a trajectory is a zip of the conversation and every event, without secrets", async () => {
  const reply = await fetch(`${server.url}/api/file/download-trajectory/${conversation}`, {
    headers: { "X-Session-API-Key": server.key },
  });
  expect(reply.status).toBe(200);
  expect(reply.headers.get("content-type")).toBe("application/zip");
  const files = unzip(Buffer.from(await reply.arrayBuffer()));
  const events = await server.events(conversation);
  expect(files.map(({ name }) => name)).toEqual([
    "meta.json",
    ...events.map(({ id }, index) => `events/event-${String(index + 1).padStart(5, "0")}-${id}.json`),
  ]);
  expect(JSON.parse(files[0]?.text ?? "")).toMatchObject({ id: conversation, execution_status: "finished" });
  expect(files.slice(1).map(({ text }) => JSON.parse(text) as unknown)).toEqual(events);
  for (const { text } of files) {
    expect(text).not.toContain(canary);
    expect(text).not.toContain("llm-key");
  }
  const absent = await server.call("GET", `/api/file/download-trajectory/${"0".repeat(32)}`);
  expect(absent).toMatchObject({ status: 404, json: { code: "conversation_not_found" } });
});

describe("stored workspaces", () => {
  const item = (name: string) => ({ id: name, name, path: `/work/${name}` });

  test("are each user's own, replaced by path, forgotten by path, and kept over a restart", async () => {
    const added = await server.call("POST", "/api/workspaces", {
      workspaces: [{ ...item("one"), parentPath: "/work" }, item("two"), { ...item("one"), name: "renamed" }],
    });
    // Of two with one path the first stays.
    const workspaces = [{ ...item("one"), parentPath: "/work" }, item("two")];
    expect(added.json).toEqual({ workspaces, workspaceParents: [] });
    await server.call("POST", "/api/workspaces/parents", { parents: [item("p")] });
    expect((await asStranger("GET", "/api/workspaces")).json).toEqual({
      workspaces: [],
      workspaceParents: [],
    });
    const path = encodeURIComponent("/work/two");
    expect(await asStranger("DELETE", `/api/workspaces?path=${path}`)).toMatchObject({
      status: 404,
      json: { code: "workspace_not_listed" },
    });
    await server.restart();
    expect((await server.call("GET", "/api/workspaces")).json).toEqual({
      workspaces,
      workspaceParents: [item("p")],
    });
    expect((await server.call("DELETE", `/api/workspaces?path=${path}`)).json).toEqual({ deleted: true });
    expect(
      (await server.call("DELETE", `/api/workspaces/parents?path=${encodeURIComponent("/work/p")}`)).json,
    ).toEqual({ deleted: true });
    expect((await server.call("GET", "/api/workspaces")).json).toEqual({
      workspaces: workspaces.slice(0, 1),
      workspaceParents: [],
    });
  });

  test.each([
    ["POST", "/api/workspaces", {}],
    ["POST", "/api/workspaces", { workspaces: [{ id: "", name: "x", path: "/x" }] }],
    ["POST", "/api/workspaces/parents", { parents: [{ id: "x" }] }],
    ["DELETE", "/api/workspaces", undefined],
    ["DELETE", "/api/workspaces/parents?path=", undefined],
  ])("bad input is a 422: %s %s", async (method, path, body) => {
    expect((await server.call(method, path, body)).status).toBe(422);
  });

  test("there is a limit", async () => {
    const workspaces = Array.from({ length: 501 }, (_, index) => item(String(index)));
    expect(await server.call("POST", "/api/workspaces", { workspaces })).toMatchObject({
      status: 409,
      json: { code: "too_many_workspaces" },
    });
  });
});

test("the editor, the desktop and the late start answer as a server without them", async () => {
  expect(await server.call("GET", "/api/vscode/url")).toMatchObject({
    status: 503,
    json: { code: "no_editor" },
  });
  expect((await server.call("GET", "/api/vscode/status")).json).toMatchObject({
    enabled: false,
    running: false,
  });
  expect(await server.call("GET", "/api/desktop/url")).toMatchObject({
    status: 503,
    json: { code: "no_desktop" },
  });
  for (const method of ["GET", "POST"]) expect((await server.call(method, "/api/init")).status).toBe(404);
  const options = { host: server.url, apiKey: server.key };
  expect(await new VSCodeClient(options).getStatus()).toMatchObject({ enabled: false });
  await expect(new DesktopClient(options).getUrl()).rejects.toThrow("503");
});

/** The files of an archive by its central directory, each checked against its local header. */
function unzip(bytes: Buffer): { readonly name: string; readonly text: string }[] {
  const end = bytes.lastIndexOf(Buffer.from("PK\x05\x06", "latin1"));
  let at = bytes.readUInt32LE(end + 16);
  return Array.from({ length: bytes.readUInt16LE(end + 10) }, () => {
    expect(bytes.readUInt32LE(at)).toBe(0x0201_4b50);
    const [size, nameLength] = [bytes.readUInt32LE(at + 20), bytes.readUInt16LE(at + 28)];
    const name = bytes.toString("utf8", at + 46, at + 46 + nameLength);
    const local = bytes.readUInt32LE(at + 42);
    expect(bytes.readUInt32LE(local)).toBe(0x0403_4b50);
    const start = local + 30 + bytes.readUInt16LE(local + 26);
    const content = inflateRawSync(bytes.subarray(start, start + size));
    expect(content.length).toBe(bytes.readUInt32LE(at + 24));
    at += 46 + nameLength;
    return { name, text: content.toString("utf8") };
  });
}
