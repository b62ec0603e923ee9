import { mkdirSync, mkdtempDisposableSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../testing/start-server.ts";

const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
const policy = "default-src 'none'; script-src 'self' 'sha256-abc='";

async function get(url: string, headers: Record<string, string> = {}): Promise<Response> {
  return await fetch(url, { headers: { accept: "*/*", ...headers }, redirect: "manual" });
}

describe("the documentation at /docs/", () => {
  const folder = mkdtempDisposableSync(join(tmpdir(), "convoke-docs-"));
  let server: TestServer;
  beforeAll(async () => {
    mkdirSync(join(folder.path, "assets"));
    mkdirSync(join(folder.path, "guides"));
    const files = {
      "index.html": "front",
      "404.html": "no such page",
      "guides/cli.html": "cli",
      "assets/app.1a2b.js": "1;",
      "content-security-policy.txt": policy,
    };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder.path, name), text);
    server = await startTestServer({ config: { docsDir: folder.path, trustedProxies: ["127.0.0.1"] } });
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    folder.remove();
  });

  test("pages need no key and have the policy that the build computed", async () => {
    for (const [path, text] of [
      ["/docs/", "front"],
      ["/docs/guides/cli.html?a=1", "cli"],
    ]) {
      const reply = await get(`${server.url}${path}`, { accept: browser });
      expect([reply.status, await reply.text()]).toEqual([200, text]);
      expect(Object.fromEntries(reply.headers)).toMatchObject({
        "content-security-policy": policy,
        "content-type": "text/html; charset=utf-8",
        "cache-control": "no-cache",
        "x-frame-options": "DENY",
        "x-content-type-options": "nosniff",
      });
    }
  });

  test("files with a hash in their names are cacheable for ever", async () => {
    const { headers } = await get(`${server.url}/docs/assets/app.1a2b.js`);
    expect(headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
  });

  test("what is not there is a 404: a page for browsers, an error for programs", async () => {
    const page = await get(`${server.url}/docs/guides/none.html`, { accept: browser });
    expect([page.status, await page.text()]).toEqual([404, "no such page"]);
    for (const path of ["/docs/none.html", "/docs/..%2fsecret.txt", "/docs/%00"]) {
      const reply = await get(`${server.url}${path}`);
      expect(reply.status).toBeGreaterThanOrEqual(400);
      expect(await reply.json()).toHaveProperty("detail");
    }
  });

  test("/docs stays the table of routes, and links it", async () => {
    expect(await (await get(`${server.url}/docs`, { accept: browser })).text()).toContain('<a href="docs/">');
  });

  test("below a path of a proxy it says why it is not there", async () => {
    const reply = await get(`${server.url}/docs/`, { accept: browser, "x-forwarded-prefix": "/convoke" });
    expect([reply.status, await reply.text()]).toEqual([404, expect.stringContaining("below a path")]);
  });
});

test("a server without the documentation says so, and /docs links nothing", async () => {
  await using server = await startTestServer();
  const page = await get(`${server.url}/docs/guides/cli.html`, { accept: browser });
  expect(page.headers.get("content-type")).toBe("text/plain; charset=utf-8");
  expect([page.status, await page.text()]).toEqual([404, expect.stringContaining("CONVOKE_DOCS")]);
  const reply = await get(`${server.url}/docs/`);
  expect([reply.status, await reply.json()]).toEqual([
    404,
    { detail: expect.stringContaining("/docs lists the routes"), code: "not_found" },
  ]);
  expect(await (await get(`${server.url}/docs`)).text()).not.toContain('href="docs/"');
});
