import { request } from "node:http";
import { ConvokeClient } from "@convoke/client";
import type { SandboxInfo } from "@convoke/protocol";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { openKeyStore } from "../../settings/open-stores.ts";
import { ConvokeProcess } from "../../testing/convoke-process.ts";
import { startScriptedModel, type ScriptedModelServer } from "../../testing/index.ts";
import { TestSocket } from "../../testing/test-socket.ts";

const port = 8011;

/** Answers with what it was asked, sets a cookie, sends elsewhere, and echoes after an upgrade. */
const echoServer = `
const http = require("node:http");
const server = http.createServer((request, response) => {
  if (request.url === "/away") {
    response.writeHead(302, { location: "http://localhost:${port}/there" });
    return void response.end();
  }
  let body = "";
  request.on("data", (data) => (body += data)).on("end", () => {
    response.writeHead(200, {
      "content-type": "application/json",
      "set-cookie": "seen=yes; Path=/; Domain=example.org; HttpOnly",
      "clear-site-data": "*",
    });
    response.end(JSON.stringify({ method: request.method, url: request.url, headers: request.headers, body }));
  });
});
server.on("upgrade", (request, socket) => {
  socket.write("HTTP/1.1 101 Switching Protocols\\r\\nConnection: Upgrade\\r\\nUpgrade: echo\\r\\n\\r\\n");
  socket.on("data", (data) => socket.write(String(data).toUpperCase()));
  socket.on("error", () => {});
});
server.listen(${port}, "127.0.0.1");
`;

const proxied = {
  "X-Forwarded-Proto": "https",
  "X-Forwarded-Host": "agents.example.org",
  "X-Forwarded-Prefix": "/convoke",
};

let model: ScriptedModelServer;
let server: ConvokeProcess;
let sandbox: SandboxInfo & { readonly session_api_key: string };
let other: SandboxInfo & { readonly session_api_key: string };

beforeAll(async () => {
  model = await startScriptedModel({
    script: {
      turns: [
        {
          text: "I look.",
          tool_calls: [{ name: "terminal", arguments: { command: "pwd; echo made > made.txt" } }],
        },
        { text: "Done." },
      ],
    },
  });
  server = await ConvokeProcess.start({ environment: { CONVOKE_TRUSTED_PROXIES: "127.0.0.1" } });
  [sandbox, other] = await Promise.all([startSandbox(), startSandbox()]);
});

afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  await model?.[Symbol.asyncDispose]();
});

async function startSandbox(): Promise<SandboxInfo & { readonly session_api_key: string }> {
  const { id } = (await server.call("POST", "/api/v1/sandboxes")).json as SandboxInfo;
  const poll = async () => {
    const [info] = (await server.call("GET", `/api/v1/sandboxes?id=${id}`)).json as SandboxInfo[];
    return info?.status === "RUNNING" && info.session_api_key !== null
      ? { ...info, session_api_key: info.session_api_key }
      : null;
  };
  return await vi.waitUntil(poll, { timeout: 120_000, interval: 20 });
}

const gate = (path: string, { id } = sandbox): string => `/sandboxes/${id}${path}`;

/** Through the sandbox's own surface, with its own key. */
const inside = (method: string, path: string, body?: unknown) =>
  server.call(method, gate(path), body, sandbox.session_api_key);

async function startConversation(): Promise<string> {
  const { json, status, text } = await inside("POST", "/api/conversations", {
    agent: {
      kind: "Agent",
      llm: { model: "openai/scripted", base_url: `${model.url}/v1`, api_key: "llm-key", num_retries: 0 },
      tools: [{ name: "terminal" }],
    },
    workspace: { kind: "LocalWorkspace", working_dir: "project" },
    initial_message: { content: [{ type: "text", text: "Look." }], run: true },
  });
  expect(status, text).toBe(201);
  return (json as { id: string }).id;
}

describe("a sandbox as an agent server", () => {
  test("P16: an agent-server client works with the address and the key of the answer, and sees its sandbox alone", async () => {
    const { url } = sandbox.exposed_urls!.find(({ name }) => name === "AGENT_SERVER")!;
    expect(url).toBe(`${server.url}/sandboxes/${sandbox.id}`);
    const client = new ConvokeClient({ baseUrl: url, apiKey: sandbox.session_api_key });
    const id = await startConversation();
    await expect
      .poll(async () => (await client.getConversation(id)).execution_status, { timeout: 120_000 })
      .toBe("finished");
    const events = JSON.stringify(await Array.fromAsync(client.events(id)));
    expect(events).toContain("/project");
    expect((await inside("GET", "/api/conversations/search")).json).toMatchObject({ items: [{ id }] });
    expect((await inside("GET", "/api/conversations/count")).json).toBe(1);
    expect((await server.call("GET", "/api/conversations/count")).json).toBe(1);
    const elsewhere = [
      await server.call("GET", gate(`/api/conversations/${id}`, other)),
      await server.call("GET", gate(`/api/conversations/${id}/events/search`, other)),
      await server.call("POST", gate(`/api/conversations/${id}/run`, other)),
      await server.call("DELETE", gate(`/api/conversations/${id}`, other)),
    ];
    expect(elsewhere.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
    expect((await server.call("GET", gate("/api/conversations/search", other))).json).toMatchObject({
      items: [],
    });

    using socket = new TestSocket(`${url}/sockets/events/${id}?resend_mode=all`, {
      headers: { "X-Session-API-Key": sandbox.session_api_key },
    });
    await socket.until((frames) => frames.some(({ kind }) => kind === "ObservationEvent"));
    const otherUrl = `${server.url}${gate(`/sockets/events/${id}`, other)}`;
    using foreign = new TestSocket(otherUrl, { headers: { "X-Session-API-Key": other.session_api_key } });
    expect(await foreign.closed).toMatchObject({ code: 4004 });
  });

  test("the key of a sandbox opens that sandbox and nothing else", async () => {
    const key = sandbox.session_api_key;
    expect((await inside("GET", "/api/conversations/count")).status).toBe(200);
    const refused = [
      await server.call("GET", "/api/conversations/count", undefined, key),
      await server.call("GET", "/api/v1/sandboxes/search", undefined, key),
      await server.call("GET", gate("/api/conversations/count", other), undefined, key),
      await server.call("GET", gate("/api/conversations/count"), undefined, null),
      await server.call("GET", gate(`/ports/${port}/`), undefined, "wrong"),
    ];
    expect(refused.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401]);
    expect((await inside("GET", "/api/settings")).status).toBe(404);
    expect((await server.call("GET", "/sandboxes/none/api/conversations/count")).status).toBe(404);
  });

  test("security 29: without a key a sandbox that is there answers like one that is not", async () => {
    for (const path of ["/alive", "/health", "/ready", "/server_info", "/api/conversations/count"]) {
      const [here, nowhere] = await Promise.all(
        [sandbox.id, "none"].map((id) => server.call("GET", `/sandboxes/${id}${path}`, undefined, null)),
      );
      expect(here!.status, path).toBe(nowhere!.status);
    }
  });

  test("a sandbox of another user is a 404 on every route, socket and port", async () => {
    await using keys = await openKeyStore(server.dataDir);
    const { key } = await keys.store.create("bob", "");
    const statuses = await Promise.all(
      [
        ["GET", "/api/conversations/count"],
        ["GET", "/api/conversations/search"],
        ["POST", "/api/bash/execute_bash_command"],
        ["GET", "/alive"],
        ["GET", `/ports/${port}/`],
      ].map(async ([method, path]) => (await server.call(method!, gate(path!), undefined, key)).status),
    );
    expect(new Set(statuses)).toEqual(new Set([404]));
  });
});

describe("ports", () => {
  const portPath = (rest = ""): string => gate(`/ports/${port}/${rest}`);
  let capability: string;

  beforeAll(async () => {
    capability = new URL(sandbox.exposed_urls!.find((url) => url.port === port)!.url).pathname;
    const file = Buffer.from(echoServer).toString("base64");
    const { status, text } = await inside("POST", "/api/bash/execute_bash_command", {
      command: `echo ${file} | base64 -d > echo.cjs; node echo.cjs > echo.log 2>&1 & sleep 0.1`,
    });
    expect(status, text).toBe(200);
    const isUp = async () => (await server.call("GET", portPath())).status === 200;
    await vi.waitUntil(isUp, { timeout: 120_000, interval: 20 });
  });

  const get = (path: string, headers: Record<string, string> = {}, init: RequestInit = {}) =>
    fetch(`${server.url}${path}`, { ...init, headers, redirect: "manual" });

  test("a request reaches the server inside, without keys and foreign cookies, and knows where it was asked", async () => {
    const headers = {
      "X-Session-API-Key": sandbox.session_api_key,
      Cookie: `session=ours; sandbox.${sandbox.id}.${port}.mine=1`,
      ...proxied,
    };
    const reply = await get(portPath("a/b?c=d"), headers, { method: "POST", body: "hello" });
    const seen = (await reply.json()) as { headers: Record<string, string> };
    expect(seen).toMatchObject({
      method: "POST",
      url: "/a/b?c=d",
      body: "hello",
      headers: {
        cookie: "mine=1",
        host: `localhost:${port}`,
        "x-forwarded-proto": "https",
        "x-forwarded-host": "agents.example.org",
        "x-forwarded-prefix": `/convoke${gate(`/ports/${port}`)}`,
      },
    });
    expect(JSON.stringify(seen)).not.toContain(sandbox.session_api_key);
    expect(reply.headers.get("clear-site-data")).toBe(null);
    expect(reply.headers.get("content-security-policy")).toMatch(/^sandbox (?!.*allow-same-origin)/);
    expect(reply.headers.getSetCookie()).toEqual([
      `sandbox.${sandbox.id}.${port}.seen=yes; HttpOnly; Path=/convoke${gate(`/ports/${port}`)}/`,
    ]);
  });

  test("a browser needs the address alone; a page without an origin may ask for more of itself", async () => {
    const page = await get(capability, { Origin: "null" });
    expect(page.status).toBe(200);
    expect(page.headers.get("access-control-allow-origin")).toBe("null");
    const preflight = await get(
      capability,
      { Origin: "null", "Access-Control-Request-Method": "PUT", "Access-Control-Request-Headers": "x-a" },
      { method: "OPTIONS" },
    );
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-methods")).toBe("PUT");
    expect((await get(capability.replace(/~./, (first) => (first === "~A" ? "~B" : "~A")))).status).toBe(404);
    expect((await get(portPath(), { Origin: "null" })).status).toBe(403);
    expect((await get(portPath())).status).toBe(401);
    expect((await get(capability.replace("/ports/", "/api/"))).status).toBe(404);
  });

  test("relative links and redirects stay behind the gateway", async () => {
    const key = { "X-Session-API-Key": sandbox.session_api_key };
    const bare = await get(portPath().slice(0, -1), key);
    expect([bare.status, bare.headers.get("location")]).toEqual([308, `${port}/`]);
    expect((await get(portPath("away"), key)).headers.get("location")).toBe(portPath("there"));
  });

  test("an upgrade becomes a stream in both directions", async () => {
    const answer = await new Promise<string>((resolve, reject) => {
      const asked = request(`${server.url}${capability}socket`, {
        headers: { Connection: "Upgrade", Upgrade: "echo", Origin: "null" },
      });
      asked.once("error", reject);
      asked.once("response", ({ statusCode }) => reject(new Error(`It answered ${statusCode}.`)));
      asked.once("upgrade", (_response, socket) => {
        socket.once("data", (data: Buffer) => {
          socket.destroy();
          resolve(data.toString());
        });
        socket.write("hello");
      });
      asked.end();
    });
    expect(answer).toBe("HELLO");
  });

  test("a port without a listener is a 503 that says so", async () => {
    const reply = await server.call("GET", gate("/ports/8012/"));
    expect(reply).toMatchObject({ status: 503, json: { code: "sandbox_failed" } });
  });
});

test("P16: no V1 answer names localhost for a request that came from elsewhere", async () => {
  const { json } = await server.call("GET", "/openapi.json");
  const { paths } = json as { paths: Record<string, Record<string, unknown>> };
  const asked = Object.entries(paths).flatMap(([path, methods]) =>
    path.startsWith("/api/v1/") && "get" in methods
      ? [path.replaceAll("{sandbox_id}", sandbox.id).replaceAll(/\{\w+\}/g, sandbox.id)]
      : [],
  );
  expect(asked.length).toBeGreaterThan(10);
  const query = `id=${sandbox.id}&ids=${sandbox.id}`;
  for (const path of asked) {
    const reply = await fetch(`${server.url}${path}${path.endsWith("/search") ? "" : `?${query}`}`, {
      headers: { "X-Session-API-Key": server.key, ...proxied },
    });
    expect(`${path} ${await reply.text()}`).not.toMatch(/localhost|127\.0\.0\.1/);
  }
  const info = await fetch(`${server.url}/api/v1/sandboxes?id=${sandbox.id}`, {
    headers: { "X-Session-API-Key": server.key, ...proxied },
  });
  expect(await info.text()).toContain(`https://agents.example.org/convoke/sandboxes/${sandbox.id}`);
});
