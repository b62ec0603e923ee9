import { mkdir, mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { startTestServer, type TestServer } from "../../testing/start-server.ts";

const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
const script = "export const answer = 42;\n".repeat(50);

let webDir: string;
let server: TestServer;
beforeAll(async () => {
  webDir = await mkdtemp(join(tmpdir(), "convoke-web-"));
  await mkdir(join(webDir, "assets"));
  const files: Readonly<Record<string, string | Buffer>> = {
    "index.html": '<!doctype html><html><head><base href="/"><title>Page</title></head><body></body></html>',
    "early.js": "// early",
    "manifest.webmanifest": "{}",
    ".secret": "hidden",
    "assets/main-4f2a.js": script,
    "assets/main-4f2a.js.br": brotliCompressSync(script),
    "assets/main-4f2a.js.gz": gzipSync(script),
    "assets/plain-11aa.css": "a{}",
  };
  for (const [name, content] of Object.entries(files)) await writeFile(join(webDir, name), content);
  await writeFile(join(webDir, "..", "convoke-web-outside.txt"), "outside");
  server = await startTestServer({ config: { webDir, trustedProxies: ["127.0.0.1"] } });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await rm(webDir, { recursive: true, force: true });
  await rm(join(webDir, "..", "convoke-web-outside.txt"), { force: true });
});

/** As a stranger: the page needs no key. */
async function get(path: string, headers: Record<string, string> = {}, at = server.url) {
  return await fetch(`${at}${path}`, { headers: { accept: "*/*", ...headers } });
}

describe("S1: the page", () => {
  test.each(["/", "/c/0198c5e0", "/settings/models", "/login", "/index.html", "/a.b/c"])(
    "is at %s for browsers",
    async (path) => {
      const reply = await get(path, { accept: browser });
      expect(reply.status).toBe(200);
      expect(reply.headers.get("content-type")).toBe("text/html; charset=utf-8");
      expect(reply.headers.get("cache-control")).toBe("no-cache");
      expect(await reply.text()).toContain('<head><base href="/" />');
    },
  );

  test("at / programs get what they got before, and caches are told that both are there", async () => {
    for (const accept of ["*/*", "application/json", "text/html;q=0.5, application/json", "text/html;q=0"]) {
      const reply = await get("/", { accept });
      expect(await reply.json()).toMatchObject({ title: "Convoke agent server" });
      expect(reply.headers.get("vary")).toContain("Accept");
      expect(reply.headers.get("content-security-policy")).toBe(null);
    }
  });

  test.each([
    ["/api/nowhere", browser],
    ["/api", browser],
    ["/v1/nowhere", browser],
    ["/sockets/nowhere", browser],
    ["/sandboxes/x/nowhere", browser],
    ["/assets/gone-77.js", browser],
    ["/nowhere", "*/*"],
    ["/.secret", "*/*"],
    ["/..%2fconvoke-web-outside.txt", "*/*"],
    ["/%2e%2e/convoke-web-outside.txt", "*/*"],
    ["/assets", "*/*"],
    ["/assets/%00", "*/*"],
  ])("%s for %s is not there", async (path, accept) => {
    const reply = await get(path, { accept });
    expect(reply.status).toBeGreaterThanOrEqual(400);
    expect(reply.status).toBeLessThan(500);
    expect(await reply.json()).toHaveProperty("detail");
  });

  test("other methods are answered as without a page", async () => {
    const post = await fetch(`${server.url}/early.js`, { method: "POST", headers: { accept: browser } });
    expect(post.status).toBe(404);
    const wrong = await get("/api/auth/workspace-session", { accept: browser });
    expect(wrong.status).toBe(405);
    const head = await fetch(`${server.url}/`, { method: "HEAD", headers: { accept: browser } });
    expect(head.headers.get("content-type")).toContain("text/html");
  });

  test("its base is where a proxy has put it", async () => {
    const reply = await get("/c/1", { accept: browser, "x-forwarded-prefix": "/convoke" });
    expect(await reply.text()).toContain('<base href="/convoke/" />');
  });

  test("it is not sent again when it is the same", async () => {
    const etag = (await get("/", { accept: browser })).headers.get("etag")!;
    const again = await get("/", { accept: browser, "if-none-match": etag });
    expect([again.status, await again.text()]).toEqual([304, ""]);
    const elsewhere = await get("/", {
      accept: browser,
      "if-none-match": etag,
      "x-forwarded-prefix": "/convoke",
    });
    expect(elsewhere.status).toBe(200);
  });

  test("U5, U21, J28: it loads and calls its own server alone, and nobody frames it", async () => {
    for (const path of ["/", "/early.js", "/assets/main-4f2a.js"]) {
      const { headers } = await get(path, { accept: path === "/" ? browser : "*/*" });
      expect(headers.get("content-security-policy")).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; worker-src 'self'; manifest-src 'self'; frame-src 'self'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types convoke",
      );
      expect(Object.fromEntries(headers)).toMatchObject({
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
      });
      expect(headers.get("permissions-policy")).toMatch(/camera=\(\).*clipboard-read=\(\).*geolocation=\(\)/);
    }
  });
});

describe("S1: its files", () => {
  test("hashed files are cacheable for ever, in the smallest encoding that the client accepts", async () => {
    const url = new URL("/assets/main-4f2a.js", server.url);
    for (const [accepted, encoding] of [
      ["gzip, deflate, br", "br"],
      ["gzip", "gzip"],
      ["br;q=0, gzip", "gzip"],
      ["identity", null],
    ] as const) {
      const reply = await fetch(url, { headers: { "accept-encoding": accepted } });
      expect(reply.headers.get("content-encoding")).toBe(encoding);
      expect(reply.headers.get("content-type")).toBe("application/javascript; charset=utf-8");
      expect(reply.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
      expect(reply.headers.get("vary")).toContain("Accept-Encoding");
      expect(await reply.text()).toBe(script);
      const again = await fetch(url, {
        cache: "no-cache",
        headers: { "accept-encoding": accepted, "if-none-match": reply.headers.get("etag")! },
      });
      expect(again.status).toBe(304);
    }
  });

  test("what has no compressed form goes out as it is; what keeps its name is asked for each time", async () => {
    const css = await get("/assets/plain-11aa.css", { "accept-encoding": "br, gzip" });
    expect([css.headers.get("content-encoding"), await css.text()]).toEqual([null, "a{}"]);
    const early = await get("/early.js");
    expect([early.headers.get("cache-control"), await early.text()]).toEqual(["no-cache", "// early"]);
    const manifest = await get("/manifest.webmanifest", { accept: browser });
    expect(manifest.headers.get("content-type")).toContain("application/manifest+json");
  });
});

test("J30: what keeps its name is sent again when its content changed, even with the same size and time of change", async () => {
  const folder = await mkdtemp(join(tmpdir(), "convoke-web-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await using place = await startTestServer({ config: { webDir: folder } });
  const file = join(folder, "early.js");
  const write = async (text: string): Promise<void> => {
    await writeFile(file, text);
    await utimes(file, 499_162_500, 499_162_500);
  };
  await write("// one");
  const first = await fetch(`${place.url}/early.js`);
  const known = {
    "if-none-match": first.headers.get("etag")!,
    "if-modified-since": new Date(499_162_500_000).toUTCString(),
  };
  expect(await first.text()).toBe("// one");
  expect((await fetch(`${place.url}/early.js`, { cache: "no-cache", headers: known })).status).toBe(304);
  await write("// two");
  const second = await fetch(`${place.url}/early.js`, { cache: "no-cache", headers: known });
  expect([second.status, await second.text()]).toEqual([200, "// two"]);
});

test("S1: a page that is built again is served at once, and a missing one changes nothing", async () => {
  const folder = await mkdtemp(join(tmpdir(), "convoke-web-"));
  await using late = await startTestServer({ config: { webDir: folder } });
  try {
    expect((await get("/c/1", { accept: browser }, late.url)).status).toBe(404);
    expect(await (await get("/", { accept: browser }, late.url)).json()).toHaveProperty("server_version");
    await writeFile(join(folder, "index.html"), "<head></head>first & last");
    expect(await (await get("/c/1", { accept: browser }, late.url)).text()).toBe(
      '<head><base href="/" /></head>first & last',
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test("S1: without the folder / is as it was, for browsers too", async () => {
  await using plain = await startTestServer();
  const reply = await get("/", { accept: browser }, plain.url);
  expect(await reply.json()).toHaveProperty("server_version");
  expect(reply.headers.get("vary")).not.toContain("Accept");
  expect((await get("/login", { accept: browser }, plain.url)).status).toBe(404);
});
