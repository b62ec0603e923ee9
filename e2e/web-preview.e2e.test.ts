import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { everySecond } from "./every-case.ts";
import { devices, noBrowser, WebBrowser } from "./web-browser.ts";
import { about, expectStatus, finish, sidewaysOf, terminal, violationsOf } from "./web-page.ts";

/** A program of an agent whose page tries all that it must not, and shows what came of it. */
const program = `
  import http from "node:http";
  const page = \`<!doctype html><html lang="en"><title>Attempts</title><h1>It works</h1><pre id="out">trying</pre><script type="module">
    const found = {};
    const attempt = async (name, act) => {
      try { found[name] = String(await act()); } catch (error) { found[name] = "refused"; }
    };
    const api = location.origin + "/api/conversations";
    await attempt("read", async () => (await fetch(api + "/count")).status);
    await attempt("send", async () => (await fetch(api, { method: "POST", credentials: "include", body: "{}" })).status);
    await attempt("simple", async () => (await fetch(api, { method: "POST", mode: "no-cors", credentials: "include" })).type);
    await attempt("page", () => parent.document.title);
    await attempt("storage", () => localStorage.length);
    await attempt("cookie", () => document.cookie);
    await attempt("top", () => { top.location.href = "about:blank"; return "moved"; });
    await attempt("socket", () => new Promise((resolve, reject) => {
      const socket = new WebSocket(location.origin.replace("http", "ws") + "/sockets/overview");
      socket.onopen = () => resolve("open");
      socket.onerror = () => reject(new Error());
    }));
    await attempt("own", async () => (await (await fetch("headers")).json()).own);
    found.leaked = (await (await fetch("headers")).json()).leaked;
    found.origin = self.origin;
    document.getElementById("out").textContent = JSON.stringify(found);
  </script>\`;
  http.createServer((request, response) => {
    if (request.url !== "/headers") return response.writeHead(200, { "content-type": "text/html" }).end(page);
    const leaked = Object.keys(request.headers).filter((name) => /cookie|authorization|key|proof/.test(name));
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ own: "mine", leaked }));
  }).listen(0, "127.0.0.1");
`;

describe.skipIf(noBrowser !== null)("previews of ports in the page", () => {
  let web: WebBrowser;
  let work = "";
  beforeAll(async () => {
    work = await realpath(await mkdtemp(path.join(tmpdir(), "convoke-preview-")));
    await writeFile(path.join(work, "server.mjs"), program);
    web = await WebBrowser.open([
      ...about(
        "serve",
        { tool_calls: [terminal(`nohup ${process.execPath} server.mjs > /dev/null 2>&1 &`, "serve it")] },
        finish("It is served."),
      ),
    ]);
  });
  afterAll(async () => {
    await web[Symbol.asyncDispose]();
    await rm(work, { recursive: true });
  });
  // What a page in a frame may not do is told in the console; what our page does wrong would be told too.
  const ofFrame = /sandbox|Blocked|blocked|CORS|Unsafe attempt/;
  afterEach(() => expect(web.faults.splice(0).filter((fault) => !ofFrame.test(fault))).toEqual([]));

  const panel = (page: Page) => page.getByRole("region", { name: "Preview" });

  test.each(everySecond(devices, 0))(
    "U21: what an agent serves is shown %s, and its page neither reads nor steers anything",
    async (_, options) => {
      const id = await web.converse("serve", { workspace: { kind: "LocalWorkspace", working_dir: work } });
      const page = await web.logInAt(`/c/${id}`, options);
      await expectStatus(page, "done");
      const before = await web.call("GET", "/api/conversations/count");
      await page.getByRole("button", { name: "More" }).click();
      await page.getByRole("menuitem", { name: "Preview" }).click();
      const ports = panel(page).getByRole("navigation", { name: "Ports" }).getByRole("button");
      await expect
        .poll(async () => {
          await panel(page).getByRole("button", { name: "Scan for ports" }).click();
          return await ports.count();
        })
        .toBeGreaterThan(0);
      await ports.first().click();
      const frame = panel(page).frameLocator("iframe");
      await frame.getByText("It works").waitFor();
      const out = frame.locator("#out");
      await expect.poll(() => out.textContent()).toMatch(/^\{/);
      expect(JSON.parse((await out.textContent()) ?? "")).toEqual({
        read: "refused",
        send: "refused",
        simple: "opaque",
        page: "refused",
        storage: "refused",
        cookie: "refused",
        top: "refused",
        socket: "refused",
        own: "mine",
        leaked: [],
        origin: "null",
      });
      expect(await web.call("GET", "/api/conversations/count")).toEqual(before);

      // The field leads within the port, and loads again.
      await panel(page).getByRole("textbox", { name: "Path" }).fill("/headers");
      await page.keyboard.press("Enter");
      await frame.getByText('"own":"mine"').waitFor();
      expect(new URL(page.url()).pathname).toBe(`/c/${id}`);
      expect(await violationsOf(page)).toEqual([]);
      expect(await sidewaysOf(page)).toBe(0);
      await page.reload();
      await frame.getByText("It works").waitFor();
      await page.context().close();
    },
  );
});
