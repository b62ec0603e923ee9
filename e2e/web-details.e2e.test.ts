import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { noBrowser, phone, WebBrowser } from "./web-browser.ts";
import { about, expectStatus, finish, sidewaysOf, terminal, violationsOf } from "./web-page.ts";

const lines = "for i in $(seq 2000); do echo line $i; sleep 0.1; done";

describe.skipIf(noBrowser !== null)("details that a person notices", () => {
  let web: WebBrowser;
  beforeAll(async () => {
    const read = { name: "file_editor", arguments: { command: "view", path: "a-relative.ts" } };
    web = await WebBrowser.open([
      ...about("count", { tool_calls: [terminal(lines, "Count the lines")] }, finish("Counted.")),
      ...about("stumble", { tool_calls: [read] }, finish("It fell.")),
    ]);
  });
  afterAll(() => web[Symbol.asyncDispose]());
  afterEach(() => expect(web.faults.splice(0)).toEqual([]));

  test("new output is shown at its end, until the reader scrolls away from there", async () => {
    const id = await web.converse("count");
    const page = await web.logInAt(`/c/${id}`);
    await page.getByRole("button", { name: /^Count the lines/ }).click();
    const output = page.locator("pre").filter({ hasText: "line 80" });
    await output.waitFor();
    const fromEnd = () =>
      output.evaluate(({ scrollHeight, clientHeight, scrollTop }) => scrollHeight - clientHeight - scrollTop);
    await expect.poll(fromEnd).toBeLessThan(2);
    expect(await output.evaluate(({ scrollTop }) => scrollTop)).toBeGreaterThan(100);
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await expectStatus(page, "paused");
    await page.context().close();
  });

  test("on a phone, the sentence of a tool that failed is read without scrolling sideways", async () => {
    const id = await web.converse("stumble");
    const page = await web.logInAt(`/c/${id}`, phone);
    await page.getByRole("button", { name: /a-relative/ }).click();
    const complaint = page.locator("pre").filter({ hasText: "is not absolute" });
    await complaint.waitFor();
    expect(await complaint.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
    await page.context().close();
  });

  test("on a phone, the open section of the settings is visible in their row, and a wrong address offers a link", async () => {
    const page = await web.logInAt("/settings/server", phone);
    const section = page
      .getByRole("navigation", { name: "Settings" })
      .getByRole("link", { name: "Server", exact: true });
    await expect
      .poll(async () => {
        const box = await section.boundingBox();
        return box !== null && box.x >= 0 && box.x + box.width <= phone.viewport.width;
      })
      .toBe(true);
    await page.goto(`${web.url}/c/${crypto.randomUUID()}`);
    await page.getByText("Conversation not found.").waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await page.getByRole("link", { name: "Conversations" }).click();
    await page.getByRole("heading", { name: "Conversations" }).waitFor();
    await page.context().close();
  });

  test("the page speaks the language of the browser until somebody chooses another one", async () => {
    const page = await web.logIn({ ...phone, locale: "de-AT" });
    await page.getByRole("heading", { name: "Was soll der Agent tun?" }).waitFor();
    await page.getByText(/Der Agent kann nur in diesen Ordner schreiben/).waitFor();
    expect(await violationsOf(page)).toEqual([]);
    expect(await sidewaysOf(page)).toBe(0);
    await page.goto(`${web.url}/settings/look`);
    await page.getByRole("combobox", { name: "Sprache" }).selectOption("en");
    await page.getByRole("heading", { name: "Appearance" }).waitFor();
    await page.reload();
    await page.getByRole("heading", { name: "Appearance" }).waitFor();
    await page.context().close();
  });
});
