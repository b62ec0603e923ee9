import { connect } from "node:net";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../testing/start-server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server[Symbol.asyncDispose]());

type Sent = { readonly reply: string; readonly sentBytes: number };

/** Writes raw bytes, then `drip` again and again, until the server has answered and closed, or answered and stayed silent. */
async function sendRaw(head: string, drip = ""): Promise<Sent> {
  const { port } = new URL(server.url);
  const socket = connect(Number(port), "127.0.0.1");
  let reply = "";
  let sentBytes = 0;
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      if (drip === "" || socket.connecting || socket.destroyed) return;
      sentBytes += drip.length;
      socket.write(drip);
    }, 5);
    const end = (): void => {
      clearInterval(timer);
      socket.destroy();
      resolve();
    };
    socket.on("connect", () => socket.write(head));
    socket.on("data", (data: Buffer) => {
      reply += data.toString("utf8");
      if (/\r\n\r\n[^]/.test(reply)) end();
    });
    socket.on("error", end);
    socket.on("close", end);
  });
  return { reply, sentBytes };
}

const statusOf = (reply: string): number => Number(reply.slice(9, 12));

function head(method: string, path: string, headers: Record<string, string>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n`;
}

describe("P3: foreign pages get a 403 before anything of theirs is read", () => {
  const host = (): string => new URL(server.url).host;
  test.each([
    ["foreign Host", () => ({ host: "evil.example" })],
    ["rebound Host", () => ({ host: `evil.example:${new URL(server.url).port}` })],
    ["foreign Origin", () => ({ host: host(), origin: "https://evil.example" })],
    ["Origin null", () => ({ host: host(), origin: "null" })],
    ["Origin that looks like ours", () => ({ host: host(), origin: "http://127.0.0.1.evil.example" })],
  ])("%s, with the right key and a body that never ends", async (_what, headers) => {
    const { reply, sentBytes } = await sendRaw(
      head("POST", "/api/conversations", {
        ...headers(),
        "x-session-api-key": server.key,
        "content-type": "application/json",
        "content-length": "60000000",
      }),
      "x".repeat(100),
    );
    expect(statusOf(reply)).toBe(403);
    expect(reply.toLowerCase()).toContain("connection: close");
    expect(reply.toLowerCase()).not.toContain("access-control-allow-origin");
    expect(sentBytes).toBeLessThan(1_000_000);
  });

  test.each(["/alive", "/docs", "/nowhere", "/%ZZ", "/sockets/events/x"])("on %s too", async (path) => {
    const { reply } = await sendRaw(head("GET", path, { host: "evil.example" }));
    expect(statusOf(reply)).toBe(403);
  });

  test("a request without a Host is refused", async () => {
    expect(statusOf((await sendRaw("GET /alive HTTP/1.0\r\n\r\n")).reply)).toBe(403);
  });

  test("a stranger without a key gets a 401 before the body is read", async () => {
    const { reply, sentBytes } = await sendRaw(
      head("POST", "/api/conversations", {
        host: host(),
        "content-type": "application/json",
        "content-length": "60000000",
      }),
      "x".repeat(100),
    );
    expect(statusOf(reply)).toBe(401);
    expect(sentBytes).toBeLessThan(1_000_000);
  });
});

describe("P3: keys", () => {
  test.each([
    ["header", { "X-Session-API-Key": "test-session-key" }, 200],
    ["bearer", { Authorization: "Bearer test-session-key" }, 200],
    ["bearer in lower case", { Authorization: "bearer test-session-key" }, 200],
    ["wrong header", { "X-Session-API-Key": "wrong" }, 401],
    [
      "wrong header with a good bearer",
      { "X-Session-API-Key": "wrong", Authorization: "Bearer test-session-key" },
      401,
    ],
    ["a prefix of the key", { "X-Session-API-Key": "test-session-ke" }, 401],
    ["another case", { "X-Session-API-Key": "TEST-SESSION-KEY" }, 401],
    ["basic", { Authorization: "Basic test-session-key" }, 401],
    ["cookie", { Cookie: "session_api_key=test-session-key" }, 401],
    ["empty", { "X-Session-API-Key": "" }, 401],
  ] as const)("%s", async (_what, headers, status) => {
    expect((await fetch(`${server.url}/api/tools/`, { headers })).status).toBe(status);
  });

  test("a key in the address of a REST call opens nothing", async () => {
    const reply = await fetch(
      `${server.url}/api/tools/?session_api_key=${server.key}&X-Session-API-Key=${server.key}`,
    );
    expect(reply.status).toBe(401);
  });

  test("every configured key opens, several at once", async () => {
    await using two = await startTestServer({ config: { sessionApiKeys: ["one", "two"] } });
    for (const key of ["one", "two"]) {
      expect((await fetch(`${two.url}/api/tools/`, { headers: { "X-Session-API-Key": key } })).status).toBe(
        200,
      );
    }
  });

  test("without a configured key one is made, kept with mode 0600, and needed on loopback too", async () => {
    await using made = await startTestServer({ config: { sessionApiKeys: [] } });
    expect((await fetch(`${made.url}/api/tools/`)).status).toBe(401);
    expect((await stat(join(made.dataDir, "session-api-key"))).mode & 0o777).toBe(0o600);
    expect((await stat(join(made.dataDir, "master-key"))).mode & 0o777).toBe(0o600);
    expect((await stat(made.dataDir)).mode & 0o777).toBe(0o700);
  });

  test("--no-auth on loopback serves everyone there, but no foreign page", async () => {
    await using open = await startTestServer({ config: { isAuthDisabled: true } });
    expect((await fetch(`${open.url}/api/tools/`)).status).toBe(200);
    expect(
      (await fetch(`${open.url}/api/tools/`, { headers: { Origin: "https://evil.example" } })).status,
    ).toBe(403);
  });

  test.each([
    ["beyond loopback without a key", { host: "0.0.0.0", sessionApiKeys: [] }],
    ["on all IPv6 addresses without a key", { host: "::", sessionApiKeys: [] }],
    ["beyond loopback with --no-auth", { host: "0.0.0.0", isAuthDisabled: true }],
    [
      "beyond loopback with --no-auth and a key",
      { host: "0.0.0.0", isAuthDisabled: true, sessionApiKeys: ["k"] },
    ],
  ])("listening %s refuses to start", async (_what, config) => {
    await expect(startTestServer({ config })).rejects.toMatchObject({ name: "ConfigError" });
  });
});

describe("CORS", () => {
  const preflight = (origin: string) =>
    fetch(`${server.url}/api/conversations`, {
      method: "OPTIONS",
      headers: {
        Origin: origin,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type,x-session-api-key,idempotency-key",
      },
    });

  test.each(["http://localhost:3000", "http://127.0.0.1:5173", "http://[::1]:8080", "https://app.localhost"])(
    "a page of %s may ask",
    async (origin) => {
      const reply = await preflight(origin);
      expect(reply.status).toBe(204);
      expect(reply.headers.get("access-control-allow-origin")).toBe(origin);
      expect(reply.headers.get("access-control-allow-headers")).toContain("x-session-api-key");
      expect(reply.headers.get("access-control-allow-methods")).toContain("PATCH");
      const call = await fetch(`${server.url}/api/tools/`, { headers: { Origin: origin } });
      expect(call.status).toBe(401);
      expect(call.headers.get("access-control-allow-origin")).toBe(origin);
    },
  );

  test("a foreign page may not", async () => {
    const reply = await preflight("https://evil.example");
    expect(reply.status).toBe(403);
    expect(reply.headers.get("access-control-allow-origin")).toBe(null);
  });

  test("a configured one may", async () => {
    await using configured = await startTestServer({
      config: { allowedOrigins: ["https://app.example.org"] },
    });
    const reply = await fetch(`${configured.url}/alive`, { headers: { Origin: "https://app.example.org" } });
    expect(reply.headers.get("access-control-allow-origin")).toBe("https://app.example.org");
  });
});
