import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { everySecond } from "./every-case.ts";
import { devices, noBrowser, WebBrowser } from "./web-browser.ts";
import { about, expectStatus, sidewaysOf, violationsOf } from "./web-page.ts";

describe.skipIf(noBrowser !== null)("shells of one's own in the page", () => {
  let web: WebBrowser;
  let work = "";
  beforeAll(async () => {
    work = await realpath(await mkdtemp(path.join(tmpdir(), "convoke-shells-")));
    web = await WebBrowser.open(about("begin", { text: "Begun." }));
  });
  afterAll(async () => {
    await web[Symbol.asyncDispose]();
    await rm(work, { recursive: true });
  });
  afterEach(() => expect(web.faults.splice(0)).toEqual([]));

  const panel = (page: Page) => page.getByRole("region", { name: "Shells" });
  /** The text of the terminal, without trailing blanks. */
  const shown = async (page: Page): Promise<string> => {
    const rows = await panel(page).locator(".xterm-rows > div").allTextContents();
    return rows.map((row) => row.replaceAll("\u00a0", " ").trimEnd()).join("\n");
  };
  const expectShown = (page: Page, text: string | RegExp) => expect.poll(() => shown(page)).toMatch(text);

  test.each(everySecond(devices, 1))(
    "J18: a shell %s: type, resize, reload in the middle, output complete",
    async (_, options) => {
      const go = path.join(work, `go-${options.viewport.width}`);
      const id = await web.converse("begin", { workspace: { kind: "LocalWorkspace", working_dir: work } });
      const page = await web.logInAt(`/c/${id}`, options);
      await expectStatus(page, "done");
      await page.getByRole("button", { name: "More" }).click();
      await page.getByRole("menuitem", { name: "Shells" }).click();
      await panel(page).getByText("Your own shell").waitFor();
      await panel(page).getByRole("button", { name: "New shell" }).last().click();
      await panel(page).getByRole("textbox", { name: "Shell keyboard input" }).waitFor();

      // Typed, with an answer that only a shell in the folder can give.
      await expectShown(page, /[$#]$/m);
      await page.keyboard.type("pwd | md5sum; stty size\n");
      await expectShown(page, /^\d+ \d+$/m);
      const before = /^(\d+) (\d+)$/m.exec(await shown(page))!;

      // Resizing the window resizes the terminal, and programs are notified.
      const { width, height } = options.viewport;
      await page.setViewportSize({ width: width - 60, height: height - 120 });
      await expect
        .poll(async () => {
          await page.keyboard.type("clear; stty size\n");
          const size = /^(\d+) (\d+)$/m.exec(await shown(page));
          return size !== null && Number(size[1]) < Number(before[1]) && Number(size[2]) < Number(before[2]);
        })
        .toBe(true);

      // A reload in the middle: earlier output, output meanwhile, and later output, once and in order.
      await page.keyboard.type(
        `clear; for n in 1 2 3 4; do echo row $n; done; until [ -e ${go} ]; do sleep 0.1; done; for n in 5 6 7 8; do echo row $n; done; read answer; echo said $answer\n`,
      );
      await expectShown(page, /^row 4$/m);
      await page.goto("about:blank");
      await writeFile(go, "");
      await page.goBack();
      await expectShown(page, /^row 8$/m);
      const rows = (await shown(page)).match(/^row \d$/gm);
      expect(rows).toEqual([1, 2, 3, 4, 5, 6, 7, 8].map((number) => `row ${number}`));
      await panel(page).locator(".xterm").click();
      await page.keyboard.type("hello\n");
      await expectShown(page, /^said hello$/m);

      expect(await violationsOf(page)).toEqual([]);
      expect(await sidewaysOf(page)).toBe(0);
      await page.keyboard.type("exit 3\n");
      await panel(page).getByText("The shell has exited with code 3.").waitFor();
      await panel(page).getByRole("button", { name: "End", exact: true }).click();
      await panel(page).getByText("Your own shell").waitFor();
      await page.context().close();
    },
  );

  test("U19: a shell is opened, used and left by key", async () => {
    const id = await web.converse("begin", { workspace: { kind: "LocalWorkspace", working_dir: work } });
    const page = await web.logInAt(`/c/${id}?panel=shells`);
    await panel(page).getByText("Your own shell").waitFor();
    await panel(page).getByRole("button", { name: "New shell" }).last().focus();
    await page.keyboard.press("Enter");
    await expectShown(page, /[$#]$/m);
    await page.keyboard.type("echo typ''ed\n");
    await expectShown(page, /^typed$/m);
    await page.keyboard.press("Tab");
    await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe("TEXTAREA");
    await page.keyboard.press("Control+]");
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe("Shells");
    await page.context().close();
  });
});
