import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { noBrowser, phone, WebBrowser } from "./web-browser.ts";
import { about, expectStatus, finish, sidewaysOf, terminal, violationsOf } from "./web-page.ts";

describe.skipIf(noBrowser !== null)("naming things in the composer", () => {
  let web: WebBrowser;
  let work = "";
  const at = (name: string): string => path.join(work, name);

  beforeAll(async () => {
    work = await mkdtemp(path.join(tmpdir(), "convoke-composer-"));
    await mkdir(at("src/deep"), { recursive: true });
    await mkdir(at(".agents/skills"), { recursive: true });
    await writeFile(at("README.md"), "# Sums\n");
    await writeFile(at("src/sum.js"), "export const sum = (a, b) => a + b;\n");
    await writeFile(at("src/deep/summary.md"), "Sums.\n");
    const head = "---\nname: ship\ndescription: How this is shipped.\ntriggers: [ship]\n---\n";
    await writeFile(at(".agents/skills/ship.md"), `${head}Push the button.\n`);
    web = await WebBrowser.open([
      ...about("begin", { text: "Begun." }),
      ...about("Read", { text: "It is read." }),
      ...about("wait", { tool_calls: [terminal("sleep 60", "wait")] }, finish("Waited.")),
      ...about("What is left?", { text: "Nothing is left." }),
    ]);
  });
  afterAll(async () => {
    await web[Symbol.asyncDispose]();
    await rm(work, { recursive: true });
  });
  afterEach(() => expect(web.faults.splice(0)).toEqual([]));

  const begin = async (text: string | null, options = {}): Promise<Page> => {
    const id = await web.converse(text, {
      workspace: { kind: "LocalWorkspace", working_dir: work },
      agent: { llm: {}, tools: [{ name: "terminal" }], agent_context: { load_project_skills: true } },
    });
    const page = await web.logInAt(`/c/${id}`, options);
    return page;
  };
  const field = (page: Page) => page.getByRole("textbox", { name: "Message" });
  const list = (page: Page) => page.getByRole("listbox", { name: "Suggestions" });

  test("U19: a file is named with @ and the keyboard alone, folder by folder or by a part of its name", async () => {
    const page = await begin("begin");
    await expectStatus(page, "done");
    await field(page).pressSequentially("Read @sum");
    await list(page)
      .getByRole("option", { name: /src\/sum\.js/ })
      .waitFor();
    const named = list(page).locator('[aria-selected="true"]');
    const active = async (): Promise<boolean> =>
      (await field(page).getAttribute("aria-activedescendant")) === (await named.getAttribute("id"));
    await expect.poll(active).toBe(true);
    expect(await violationsOf(page)).toEqual([]);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await expect.poll(() => field(page).inputValue()).toBe("Read src/deep/summary.md ");
    await page.keyboard.type("and @");
    await list(page).getByRole("option", { name: "src/" }).waitFor();
    await expect.poll(() => list(page).getByRole("option").first().innerText()).toMatch(/^\.?\w+\//u);
    await page.keyboard.type("src/s");
    await list(page).getByRole("option", { name: "src/sum.js" }).waitFor();
    await page.keyboard.press("Tab");
    await expect.poll(() => field(page).inputValue()).toBe("Read src/deep/summary.md and src/sum.js ");
    await page.keyboard.press("Enter");
    await page.getByRole("feed").getByText("It is read.").waitFor();
    await page.context().close();
  });

  test("Escape closes the list, and the typed text stays and is sent unchanged", async () => {
    const page = await begin("begin");
    await expectStatus(page, "done");
    await field(page).pressSequentially("Read @READ");
    await list(page).waitFor();
    await page.keyboard.press("Escape");
    await expect.poll(() => list(page).count()).toBe(0);
    await page.keyboard.press("Enter");
    await page.getByRole("article", { name: "Read @READ" }).waitFor();
    await page.context().close();
  });

  test("a slash lists commands and the conversation's skills; /stop stops, and sends no message", async () => {
    const page = await begin("wait");
    await expectStatus(page, "working");
    await field(page).pressSequentially("/sh");
    await list(page).getByText("How this is shipped.").waitFor();
    await field(page).fill("");
    await field(page).pressSequentially("/sto");
    await list(page).getByRole("option", { name: "/stop" }).waitFor();
    await page.keyboard.press("Enter");
    await expect.poll(() => field(page).inputValue()).toBe("/stop");
    await page.keyboard.press("Enter");
    await expectStatus(page, "paused");
    expect(await page.getByRole("article", { name: "/stop" }).count()).toBe(0);
    await page.context().close();
  });

  test("a side question is answered without becoming a part of the conversation; a missing one is reported", async () => {
    const page = await begin("begin");
    await expectStatus(page, "done");
    await field(page).fill("/limit much");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("Enter an amount in dollars").waitFor();
    await expect.poll(() => field(page).inputValue()).toBe("/limit much");
    await field(page).fill("/ask What is left?");
    await page.keyboard.press("Enter");
    const aside = page.getByRole("region", { name: "Side question" });
    await aside.getByText("Nothing is left.").waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await aside.getByRole("button", { name: "Close" }).click();
    expect(await page.getByRole("feed").getByText("Nothing is left.").count()).toBe(0);
    await page.context().close();
  });

  test("J12: an image is added, removed, and sent with the message; another file is rejected", async () => {
    const page = await begin("begin");
    await expectStatus(page, "done");
    const picture = await page.screenshot({ clip: { x: 0, y: 0, width: 20, height: 20 } });
    const choose = page.locator("input[type=file]");
    await choose.setInputFiles([
      { name: "broken.png", mimeType: "image/png", buffer: Buffer.from("no picture") },
      { name: "text.txt", mimeType: "text/plain", buffer: Buffer.from("a text") },
      { name: "part.png", mimeType: "image/png", buffer: picture },
    ]);
    await page.getByRole("img", { name: "Image 1" }).waitFor();
    await expect.poll(() => page.getByRole("img", { name: /Image/ }).count()).toBe(1);
    await page.getByRole("button", { name: "Remove image 1" }).click();
    await page.getByRole("img", { name: "Image 1" }).waitFor({ state: "detached" });
    await choose.setInputFiles({ name: "part.png", mimeType: "image/png", buffer: picture });
    await page.getByRole("img", { name: "Image 1" }).waitFor();
    await page.reload();
    await page.getByRole("img", { name: "Image 1" }).waitFor();
    await field(page).fill("Read this");
    await page.keyboard.press("Enter");
    await page.getByRole("feed").getByText("It is read.").waitFor();
    await expect.poll(() => page.getByRole("feed").getByRole("img").count()).toBe(1);
    await page.context().close();
  });

  test("On a phone in the dark a tap selects, and the field keeps the focus", async () => {
    const page = await begin("begin", { ...phone, colorScheme: "dark" });
    await expectStatus(page, "done");
    await field(page).pressSequentially("Read @RE");
    const option = list(page).getByRole("option", { name: "README.md" });
    await option.waitFor();
    expect((await option.boundingBox())?.height).toBeGreaterThanOrEqual(44);
    expect(await sidewaysOf(page)).toBe(0);
    expect(await violationsOf(page)).toEqual([]);
    await option.tap();
    await expect.poll(() => field(page).inputValue()).toBe("Read README.md ");
    await expect.poll(() => field(page).evaluate((element) => element === document.activeElement)).toBe(true);
    await page.context().close();
  });
});
