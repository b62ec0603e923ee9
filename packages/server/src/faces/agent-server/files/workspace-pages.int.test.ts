import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { expect, test } from "vitest";
import { startTestServer } from "../../../testing/start-server.ts";

const browserPath = "/usr/bin/chromium";
/** One red point. */
const picture =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

const page = `<!doctype html><title>t</title>
<link rel="stylesheet" href="styles/main.css">
<img id="picture" src="picture.png">
<p id="text">-</p>
<script src="plain.js"></script>
<script type="module" src="module.js"></script>`;

test.skipIf(!existsSync(browserPath))(
  "security 42: in a real browser pictures, styles, scripts and modules of a workspace's page load, and it has no origin",
  async () => {
    await using server = await startTestServer();
    const { id } = await server.createConversation();
    await mkdir(join(server.workspaceDir, "site", "styles"), { recursive: true });
    const write = (name: string, content: string | Buffer) =>
      writeFile(join(server.workspaceDir, "site", name), content);
    await write("index.html", page);
    await write("styles/main.css", "#text { color: rgb(1, 2, 3); }");
    await write("picture.png", Buffer.from(picture, "base64"));
    await write("plain.js", "window.plain = origin;");
    await write("part.js", "export const part = 'imported';");
    await write("module.js", "import { part } from './part.js'; window.part = part;");

    await using scope = new AsyncDisposableStack();
    const browser = scope.adopt(
      await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox"] }),
      (opened) => opened.close(),
    );
    const tab = await browser.newPage();
    // As a client does: a page of another port gives the browser its cookie.
    await tab.goto(`${server.url}/docs`);
    const reply = await server.call("POST", "/api/auth/workspace-session");
    const [name = "", value = ""] = reply.headers.get("set-cookie")!.split(";", 1)[0]!.split(/=(.*)/s);
    await tab.context().addCookies([{ name, value, url: `${server.url}/api/conversations`, httpOnly: true }]);
    const failed: string[] = [];
    tab.on("requestfailed", (request) => failed.push(request.url()));
    tab.on("response", (response) => {
      if (response.status() >= 400 && !response.url().endsWith("favicon.ico")) failed.push(response.url());
    });
    for (const path of ["site/index.html", "site/", "site"]) {
      await tab.goto(`${server.url}/api/conversations/${id}/workspace/${path}`, { waitUntil: "load" });
      await tab.waitForFunction("window.part === 'imported'");
      const seen = await tab.evaluate(`({
        color: getComputedStyle(document.getElementById("text")).color,
        width: document.getElementById("picture").naturalWidth,
        origin: window.plain,
      })`);
      expect(seen, path).toEqual({ color: "rgb(1, 2, 3)", width: 1, origin: "null" });
    }
    expect(failed).toEqual([]);
  },
);
