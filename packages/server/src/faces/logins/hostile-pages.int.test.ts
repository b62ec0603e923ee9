import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium, type Page } from "playwright-core";
import { expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../testing/start-server.ts";

const browserPath = "/usr/bin/chromium";

/** The smallest page of ours: it logs in with the key in its address, and can ask with what it got. */
const ownPage = '<head><base href="/"></head><script src="early.js"></script>own page';
const ownScript = `
globalThis.login = async (key) => {
  const headers = { "content-type": "application/json" };
  const reply = await fetch("/api/auth/login", { method: "POST", headers, body: JSON.stringify({ key }) });
  localStorage.setItem("proof", (await reply.json()).proof);
  return reply.status;
};
globalThis.ask = async (method, path) =>
  (await fetch(path, { method, headers: { "x-convoke-proof": localStorage.getItem("proof") } })).status;
`;

/** Everything that a page of somebody else can try against a server at \`target\`; what it could read, by way. */
async function attack(target: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  const call = async (name: string, path: string, options: RequestInit): Promise<void> => {
    try {
      const reply = await fetch(`${target}${path}`, { credentials: "include", ...options });
      found[name] = reply.type === "opaque" ? "opaque" : `${reply.status}`;
    } catch {
      found[name] = "blocked";
    }
  };
  const body = "{}";
  await call("read", "/api/conversations/search", {});
  await call("read without looking", "/api/conversations/search", { mode: "no-cors" });
  await call("read with a made up proof", "/api/conversations/search", {
    headers: { "x-convoke-proof": "x" },
  });
  await call("steer", "/api/conversations", {
    method: "POST",
    body,
    headers: { "content-type": "application/json" },
  });
  await call("steer without looking", "/api/auth/logout", { method: "POST", body, mode: "no-cors" });
  await call("demo", "/api/demo", { method: "POST", mode: "no-cors" });
  found["socket"] = await new Promise((resolve) => {
    const socket = new WebSocket(`${target.replace("http", "ws")}/sockets/bash-events`);
    socket.addEventListener("open", () => socket.send(JSON.stringify({ type: "auth", proof: "x" })));
    socket.addEventListener("message", () => resolve("a frame"));
    socket.addEventListener("close", ({ code }) => resolve(`closed ${code}`));
  });
  const frame = document.createElement("iframe");
  frame.src = `${target}/`;
  const loaded = new Promise((resolve) => frame.addEventListener("load", resolve));
  document.body.append(frame);
  await loaded;
  try {
    found["frame"] = frame.contentDocument === null ? "another origin" : "readable";
  } catch {
    found["frame"] = "another origin";
  }
  return found;
}

async function serveHostile(): Promise<{ readonly url: string; readonly server: Server } & AsyncDisposable> {
  const server = createServer((_request, reply) => {
    reply.setHeader("content-type", "text/html").end("<body>hostile</body>");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    server,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** What this server has let anybody do so far: the page's own calls are counted out by who looks. */
async function conversationsOf(server: TestServer): Promise<number> {
  return (await server.call("GET", "/api/conversations/count")).json as number;
}

const nothing = /^(401|403|blocked|opaque|closed (1006|4001)|another origin)$/;

test.skipIf(!existsSync(browserPath))(
  "U21, J28: in a real browser a page of another port, of another name, framed, or without an origin can neither read nor steer",
  async () => {
    const webDir = await mkdtemp(join(tmpdir(), "convoke-web-"));
    await writeFile(join(webDir, "index.html"), ownPage);
    await writeFile(join(webDir, "early.js"), ownScript);
    await using hostile = await serveHostile();
    await using server = await startTestServer({ config: { webDir } });
    await using open = await startTestServer({ config: { webDir, isAuthDisabled: true } });
    await using scope = new AsyncDisposableStack();
    scope.defer(() => rm(webDir, { recursive: true, force: true }));
    const browser = scope.adopt(
      await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox"] }),
      (opened) => opened.close(),
    );
    const context = await browser.newContext();
    const own = await context.newPage();
    await own.goto(`${server.url}/`);
    const inOwn = (expression: string): Promise<unknown> => own.evaluate(expression);
    expect(await inOwn(`login(${JSON.stringify(server.key)})`)).toBe(200);
    expect(await inOwn(`ask("GET", "/api/tools/")`)).toBe(200);

    const tab = await context.newPage();
    const isFramed = (page: Page): Promise<boolean> =>
      Promise.all(
        page
          .frames()
          .slice(1)
          .map((frame) => frame.content().catch(() => "")),
      ).then((texts) => texts.some((text) => text.includes("own page")));
    for (const target of [server, open]) {
      for (const at of [hostile.url, hostile.url.replace("127.0.0.1", "localhost")]) {
        await tab.goto(at);
        const found = await tab.evaluate(attack, target.url);
        expect(
          Object.entries(found).filter(([, result]) => !nothing.test(result)),
          at,
        ).toEqual([]);
        expect(found["steer"]).not.toBe("opaque");
        expect(await isFramed(tab)).toBe(false);
      }
      // As pages of workspaces and sandboxes are: without an origin.
      await tab.goto(`data:text/html,<body>nobody</body>`);
      const found = await tab.evaluate(attack, target.url);
      expect(Object.entries(found).filter(([, result]) => !nothing.test(result))).toEqual([]);
      expect(await conversationsOf(target)).toBe(0);
    }
    // What was sent without looking had no effect: the login is still there.
    expect(await inOwn(`ask("GET", "/api/tools/")`)).toBe(200);
    expect(await inOwn(`ask("POST", "/api/auth/logout")`)).toBe(204);
    expect(await inOwn(`ask("GET", "/api/tools/")`)).toBe(401);
  },
);
