import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LoginReply, LoginTicket } from "@convoke/protocol";
import { expect, onTestFinished, test, vi } from "vitest";
import { startTestServer } from "../../testing/start-server.ts";
import { TestSocket } from "../../testing/test-socket.ts";

/** Why there can be no proxy here, or null. */
function findMissing(): string | null {
  try {
    execFileSync("nginx", ["-v"], { stdio: "ignore" });
    return null;
  } catch {
    return "nginx is not installed"; // That it does not run is the answer.
  }
}

async function findPort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

/** nginx as docs/guides/proxies.md has it, without TLS: everything below `/convoke/` goes to the server. */
async function startNginx(folder: string, port: number, upstream: string): Promise<void> {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `${name}_temp_path ${folder}/${name};`)
    .join(" ");
  const configuration = `
daemon off; master_process off; pid ${folder}/pid; error_log stderr warn;
events {}
http {
  access_log off; ${temporary}
  map $http_upgrade $connection_upgrade { default upgrade; '' ''; }
  server {
    listen 127.0.0.1:${port};
    location /convoke/ {
      proxy_pass ${upstream}/;
      proxy_http_version 1.1;
      proxy_set_header Host $http_host;
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection $connection_upgrade;
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_set_header X-Forwarded-Proto $scheme;
      proxy_set_header X-Forwarded-Host $http_host;
      proxy_set_header X-Forwarded-Prefix /convoke;
      proxy_buffering off;
    }
  }
}`;
  await writeFile(join(folder, "nginx.conf"), configuration);
  const child = spawn("nginx", ["-e", "stderr", "-p", folder, "-c", join(folder, "nginx.conf")], {
    stdio: "ignore",
  });
  onTestFinished(async () => {
    child.kill("SIGTERM");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  });
}

const missing = findMissing();

test.skipIf(missing !== null)(
  `S1, S2: page, login, REST and sockets below a prefix behind nginx (${missing ?? "here"})`,
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "convoke-nginx-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const webDir = join(folder, "web");
    await mkdir(join(webDir, "assets"), { recursive: true });
    await writeFile(join(webDir, "index.html"), '<head><base href="/"></head>the page');
    await writeFile(join(webDir, "assets", "main-1a2b.js"), "run();");
    await using server = await startTestServer({ config: { webDir, trustedProxies: ["127.0.0.1"] } });
    const port = await findPort();
    await startNginx(folder, port, server.url);
    const origin = `http://127.0.0.1:${port}`;
    const base = `${origin}/convoke`;
    await vi.waitUntil(
      () =>
        fetch(`${base}/alive`).then(
          ({ ok }) => ok,
          () => false,
        ),
      { timeout: 120_000 },
    );

    for (const path of ["/", "/c/0199", "/login"]) {
      const page = await fetch(`${base}${path}`, { headers: { accept: "text/html,*/*;q=0.8" } });
      expect(await page.text()).toBe('<head><base href="/convoke/" /></head>the page');
      expect(page.headers.get("content-security-policy")).toContain("connect-src 'self'");
    }
    const asset = await fetch(new URL("./assets/main-1a2b.js", `${base}/`));
    expect([await asset.text(), asset.headers.get("cache-control")]).toEqual([
      "run();",
      "public, max-age=31536000, immutable",
    ]);

    const made = await fetch(`${base}/api/auth/tickets`, {
      method: "POST",
      headers: { "x-session-api-key": server.key },
    });
    const { url } = (await made.json()) as LoginTicket;
    expect(url).toMatch(new RegExp(`^${base}/login#t=`));
    const login = await fetch(`${base}/api/auth/login`, {
      method: "POST",
      headers: { origin, "sec-fetch-site": "same-origin", "content-type": "application/json" },
      body: JSON.stringify({ ticket: new URL(url).hash.slice(3) }),
    });
    const { proof } = (await login.json()) as LoginReply;
    const [cookie = "", ...attributes] = login.headers.getSetCookie()[0]!.split("; ");
    expect(cookie).toMatch(new RegExp(`^convoke_${port}=`));
    expect(attributes).toContain("Path=/convoke/");

    const halves = { cookie, "x-convoke-proof": proof };
    expect((await fetch(`${base}/api/tools/`, { headers: halves })).status).toBe(200);
    const foreign = { ...halves, origin: server.url };
    expect((await fetch(`${base}/api/conversations`, { method: "POST", headers: foreign })).status).toBe(403);
    const { id } = await server.createConversation();
    using socket = new TestSocket(`${base}/sockets/events/${id}`, { headers: { cookie, origin } });
    expect(await socket.opened).toBe("open");
    socket.send({ type: "auth", proof });
    await socket.until((frames) => frames.length > 0);
  },
);
