import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { noBrowser, phone, WebBrowser } from "./web-browser.ts";
import { about, expectStatus, finish, sidewaysOf, takePictures, terminal, violationsOf } from "./web-page.ts";

const form = `<title>Sign up</title><style>body { margin: 0; background: #eef; font: 20px sans-serif }
  * { position: absolute; left: 40px; width: 400px; height: 60px; box-sizing: border-box; font-size: 24px }
  title, style, body, html { position: static; width: auto; height: auto; font-size: 20px }</style>
  <h1 style="top:10px">Sign up</h1><input aria-label="Your name" style="top:90px" oninput="fetch('/typed?' + encodeURIComponent(this.value))">
  <input type="password" aria-label="Password" style="top:180px"><button style="top:270px" onclick="location = '/thanks'">Send</button>`;

type Noted = {
  readonly key?: string;
  readonly value?: { readonly text: string };
  readonly observation?: object;
};

describe.skipIf(noBrowser !== null)("the browser of the agent in the page", () => {
  let web: WebBrowser;
  let site: Server;
  let work = "";
  const typed: string[] = [];
  let address = "";

  beforeAll(async () => {
    work = await mkdtemp(path.join(tmpdir(), "convoke-live-"));
    site = createServer((request, response) => {
      if (request.url?.startsWith("/typed?") === true) typed.push(decodeURIComponent(request.url.slice(7)));
      response
        .setHeader("content-type", "text/html")
        .end(request.url === "/thanks" ? "<title>Thanks</title>Thanks" : form);
    });
    site.listen(0, "127.0.0.1");
    await once(site, "listening");
    address = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
    const navigate = { name: "browser_navigate", arguments: { url: `${address}/`, security_risk: "LOW" } };
    const wait = terminal(`while [ ! -e ${path.join(work, "go")} ]; do sleep 0.1; done`, "wait");
    const turns = [
      ...about(
        "Sign up",
        { tool_calls: [navigate] },
        { tool_calls: [wait] },
        { tool_calls: [{ name: "browser_list_tabs", arguments: { security_risk: "LOW" } }] },
        finish("You signed up."),
      ),
      ...about("Look at it", { tool_calls: [navigate] }, finish("It is open.")),
    ];
    // The site listens on this machine, which is not reached from behind a wall.
    web = await WebBrowser.open(turns, async (place) => void (place.environment["CONVOKE_WALL"] = "off"));
  });
  afterAll(async () => {
    await web[Symbol.asyncDispose]();
    site.closeAllConnections();
    site.close();
    await rm(work, { recursive: true });
  });
  afterEach(() => expect(web.faults.splice(0)).toEqual([]));

  const browser = (page: Page) => page.getByRole("region", { name: "Browser" });
  const image = (page: Page) => browser(page).getByRole("img", { name: "Browser screen" });
  const open = async (page: Page): Promise<void> => {
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Browser" }).click();
  };
  /** Clicks at a position of the page in the picture. */
  const click = async (page: Page, x: number, y: number): Promise<void> => {
    const box = (await image(page).boundingBox())!;
    const [width, height] = [1280, 720];
    await image(page).click({ position: { x: (x * box.width) / width, y: (y * box.height) / height } });
  };

  test("issue 11.2: a person watches, takes control while the agent pauses, types, gives control back, and the log says so", async () => {
    const id = await web.converse(null, {
      workspace: { kind: "LocalWorkspace", working_dir: work },
    });
    const page = await web.logInAt(`/c/${id}`);
    await open(page);
    await browser(page).getByText("no browser open").waitFor();
    await page.getByRole("textbox", { name: "Message" }).fill("Sign up");
    await page.keyboard.press("Enter");
    await image(page).waitFor();
    await browser(page).getByText(`${address}/`).waitFor();
    const take = browser(page).getByRole("button", { name: "Take over" });
    await expect.poll(() => take.isDisabled()).toBe(true);
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Pause after this step" }).click();
    await writeFile(path.join(work, "go"), "");
    await expectStatus(page, "paused");
    await take.click();
    await browser(page).getByText("You control the browser").waitFor();
    await click(page, 200, 120);
    await page.keyboard.type("Ada");
    // Each letter is sent by a separate request, and one may overtake another.
    await expect.poll(() => typed).toContain("Ada");
    await page.evaluate(() => {
      const data = new DataTransfer();
      data.setData("text", " Lovelace");
      document.activeElement?.dispatchEvent(
        new ClipboardEvent("paste", { clipboardData: data, bubbles: true }),
      );
    });
    await expect.poll(() => typed).toContain("Ada Lovelace");
    expect(await violationsOf(page)).toEqual([]);
    await takePictures(page, "browser");
    await click(page, 200, 300);
    await browser(page).getByText(`${address}/thanks`).waitFor();
    await page.keyboard.press("Control+]");
    await take.waitFor();
    const notesText = async (): Promise<string> => {
      const { items } = await web.call("GET", `/api/conversations/${id}/events/search?limit=100`);
      const notes = (items as Noted[]).filter((event) => event.key === "browser" || event.observation);
      return notes.map(({ value, observation }) => value?.text ?? JSON.stringify(observation)).join("\n");
    };
    // An element that a busy page does not name in time is called the page.
    const did =
      /they clicked (field "Your name"|the page); typed 12 characters into (field "Your name"|the page); clicked (button "Send"|the page)/;
    await expect.poll(notesText).toMatch(did);
    expect(await notesText()).toContain(`; came to ${address}/thanks.`);
    expect(await notesText()).not.toContain("Lovelace");
    await page.getByRole("button", { name: "Resume", exact: true }).click();
    await expectStatus(page, "done");
    expect(await notesText()).toContain("A person had the browser in between.");
    await page.context().close();
  });

  test("issue 11.2: on a phone it fills the screen, a tap clicks and typed text arrives", async () => {
    typed.length = 0;
    const id = await web.converse("Look at it");
    const page = await web.logInAt(`/c/${id}`, phone);
    await expectStatus(page, "done");
    await open(page);
    await image(page).waitFor();
    await browser(page).getByRole("button", { name: "Take over" }).tap();
    await browser(page).getByText("You control the browser").waitFor();
    const box = (await image(page).boundingBox())!;
    await page.touchscreen.tap(box.x + (200 * box.width) / 1280, box.y + (120 * box.height) / 720);
    // Like keyboards of phones: the written text, not the pressed keys.
    await page.keyboard.insertText("Grace");
    await expect.poll(() => typed).toContain("Grace");
    expect(await sidewaysOf(page)).toBe(0);
    expect(await violationsOf(page)).toEqual([]);
    await browser(page).getByRole("button", { name: "Give back" }).tap();
    await browser(page).getByRole("button", { name: "Take over" }).waitFor();
    await page.context().close();
  });
});
