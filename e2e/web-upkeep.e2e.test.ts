import { readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { noBrowser, WebBrowser } from "./web-browser.ts";
import { about, sidewaysOf, violationsOf } from "./web-page.ts";

describe.skipIf(noBrowser !== null)("a page that stays open", () => {
  let web: WebBrowser;
  let webDir = "";
  let version = 1;

  beforeAll(async () => {
    web = await WebBrowser.open(about("begin", { text: "Begun." }), async (place) => {
      webDir = path.join(await place.installCopy(), "web");
    });
  });
  afterAll(() => web[Symbol.asyncDispose]());
  afterEach(() => expect(web.faults.splice(0)).toEqual([]));

  const message = (page: Page) => page.getByRole("textbox", { name: "Message" });
  const newer = (page: Page) => page.getByText("A new version of this page is available.");
  const openConversation = async (): Promise<Page> => {
    const id = await web.converse("begin");
    const page = await web.logInAt(`/c/${id}`);
    await page.getByRole("feed").getByText("Begun.").waitFor();
    return page;
  };
  /** An upgrade: every file of the page has a new name, and the old ones are gone. */
  const upgrade = async (): Promise<void> => {
    const before = version === 1 ? "" : `-v${version}`;
    version += 1;
    const assets = path.join(webDir, "assets");
    const names = await readdir(assets);
    const isPacked = (name: string): boolean => /\.(br|gz)$/.test(name);
    for (const name of names.filter(isPacked)) await rm(path.join(assets, name));
    await Promise.all(
      ["index.html.br", "index.html.gz"].map((name) => rm(path.join(webDir, name), { force: true })),
    );
    const renamed = names
      .filter((name) => !isPacked(name))
      .map((name) => [name, name.replace(new RegExp(`${before}(\\.\\w+)$`), `-v${version}$1`)] as const);
    const withNew = (text: string): string =>
      renamed.reduce((all, [old, name]) => all.replaceAll(old, name), text);
    for (const [old, name] of renamed) {
      const file = path.join(assets, old);
      if (/\.(js|css)$/.test(old)) await writeFile(file, withNew(await readFile(file, "utf8")));
      await rename(file, path.join(assets, name));
    }
    const page = path.join(webDir, "index.html");
    await writeFile(page, withNew(await readFile(page, "utf8")));
  };

  test("J30, U16: the server restarts with a newer page: a notice says so, and a click loads it with the typed text", async () => {
    const page = await openConversation();
    await message(page).click();
    await page.keyboard.type("Half a sen");
    await web.killAndRestart(upgrade);
    await newer(page).waitFor();
    expect(await sidewaysOf(page)).toBe(0);
    expect(await violationsOf(page)).toEqual([]);
    await page.keyboard.type("tence");
    expect(await message(page).inputValue()).toBe("Half a sentence");
    await page.getByRole("button", { name: "Reload" }).click();
    await newer(page).waitFor({ state: "detached" });
    await page.getByRole("feed").getByText("Begun.").waitFor();
    expect(await message(page).inputValue()).toBe("Half a sentence");
    await page.context().close();
  });

  test("J30: a missing file of an old page does not break it, and a notice says that there is a newer one", async () => {
    const page = await openConversation();
    await message(page).click();
    await page.keyboard.type("Not sent yet");
    await upgrade();
    await page.getByRole("navigation").getByRole("link", { name: "Settings" }).click();
    await newer(page).waitFor();
    await page.goBack();
    await page.getByRole("feed").getByText("Begun.").waitFor();
    expect(await message(page).inputValue()).toBe("Not sent yet");
    await page.goForward();
    await page.getByRole("button", { name: "Reload" }).click();
    await page.getByRole("heading", { name: "Settings", level: 1 }).waitFor();
    await page.context().close();
  });

  test("J30: an unused page reloads by itself", async () => {
    const page = await openConversation();
    const script = async (): Promise<string | null> =>
      await page.locator("head script[type=module]").last().getAttribute("src");
    const before = await script();
    await web.killAndRestart(upgrade);
    await expect.poll(script).not.toBe(before);
    await page.getByRole("feed").getByText("Begun.").waitFor();
    await page.context().close();
  });

  test("J30, U16: logged out while typing: the login opens above the typed text, and the page continues where it was", async () => {
    const page = await openConversation();
    const other = await web.tab(page);
    await other.goto(page.url());
    await other.getByRole("feed").getByText("Begun.").waitFor();
    await message(page).click();
    await page.keyboard.type("Half a sen");
    await web.call("POST", "/api/auth/logout", { everywhere: true });
    const logInDialog = page.getByRole("dialog", { name: "You were logged out" });
    await logInDialog.waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await logInDialog.waitFor();
    const key = await readFile(path.join(web.place.folder, "data/session-api-key"), "utf8");
    await logInDialog.getByLabel("Key").fill("not a key");
    await logInDialog.getByRole("button", { name: "Log in" }).click();
    await logInDialog.getByRole("alert").waitFor();
    await logInDialog.getByLabel("Key").fill(key.trim());
    await page.keyboard.press("Enter");
    await logInDialog.waitFor({ state: "detached" });
    expect(await message(page).inputValue()).toBe("Half a sen");
    // Two frames later the focus has returned.
    await page.evaluate(async () => {
      for (let frame = 0; frame < 2; frame += 1) await new Promise(requestAnimationFrame);
    });
    await page.keyboard.type("tence, begin");
    await page.keyboard.press("Enter");
    await page.getByRole("feed").getByText("Half a sentence, begin").waitFor();
    // The other tab is logged in too, and follows again.
    await other.getByRole("feed").getByText("Half a sentence, begin").waitFor();
    expect(await other.getByRole("dialog").count()).toBe(0);
    await page.context().close();
  });
});
