import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { everySecond } from "./every-case.ts";
import { devices, isPhone, noBrowser, WebBrowser } from "./web-browser.ts";
import {
  about,
  expectStatus,
  finish,
  send,
  sidewaysOf,
  takePictures,
  terminal,
  violationsOf,
} from "./web-page.ts";

const picture = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const hostile = "<img src=x onerror='window.hacked = 1'><script>window.hacked = 1</script>";

describe.skipIf(noBrowser !== null)("files and downloads", () => {
  let web: WebBrowser;
  let work = "";
  const at = (name: string): string => path.join(work, name);

  beforeAll(async () => {
    work = await mkdtemp(path.join(tmpdir(), "convoke-files-"));
    await mkdir(at("src/deep"), { recursive: true });
    await writeFile(at("README.md"), "# Sums\n\nThey add up.\n");
    await writeFile(at("src/sum.js"), "export const sum = (a, b) => a + b;\n");
    await writeFile(at("src/deep/page.html"), hostile);
    await writeFile(at("src/deep/page.svg"), `<svg xmlns="http://www.w3.org/2000/svg">${hostile}</svg>`);
    await writeFile(at("dot.png"), picture);
    await writeFile(at("data.bin"), Buffer.from([0, 1, 2]));
    await writeFile(at("long.txt"), "line\n".repeat(200_000));
    web = await WebBrowser.open([
      ...about(
        "grow",
        { tool_calls: [terminal(`echo new > ${at("grown.txt")}`, "grow")] },
        finish("It grew."),
      ),
      ...about("begin", { text: "Begun." }),
    ]);
  });
  afterAll(async () => {
    await web[Symbol.asyncDispose]();
    await rm(work, { recursive: true });
  });
  afterEach(() => expect(web.faults.splice(0)).toEqual([]));

  const begin = (): Promise<string> =>
    web.converse("begin", { workspace: { kind: "LocalWorkspace", working_dir: work } });
  const files = (page: Page) => page.getByRole("region", { name: "Files" });

  test.skipIf(isPhone)(
    "J17: folders and files are opened, have addresses and a way back, and are refreshed when the agent creates one",
    async () => {
      const id = await begin();
      const page = await web.logInAt(`/c/${id}`);
      await expectStatus(page, "done");
      await page.getByRole("button", { name: "Files" }).click();
      await files(page).getByRole("button", { name: /^src/ }).click();
      await files(page)
        .getByRole("button", { name: /sum\.js/ })
        .click();
      await files(page).getByText("export const sum").waitFor();
      await expect.poll(() => new URL(page.url()).searchParams.get("path")).toBe("src/sum.js");
      // Syntax colours come from a worker, which the page's policy must allow.
      await page.waitForFunction(() => (CSS.highlights.get("code-keyword")?.size ?? 0) > 0);
      await takePictures(page, "files");
      await page.reload();
      await files(page).getByText("export const sum").waitFor();
      await page.goBack();
      await files(page).getByRole("button", { name: /deep/ }).waitFor();
      await files(page)
        .getByRole("button", { name: path.basename(work) })
        .click();
      await send(page, "Now grow");
      await files(page)
        .getByRole("button", { name: /grown\.txt/ })
        .waitFor();
      await page.context().close();
    },
  );

  test("J17, J29: an image is shown, HTML and SVG are shown as text, a binary or too long file says so", async () => {
    const id = await begin();
    const page = await web.logIn();
    const show = (name: string) =>
      page.goto(`${web.url}/c/${id}?panel=files&path=${encodeURIComponent(name)}`);
    await show("dot.png");
    await files(page).getByRole("img", { name: "dot.png" }).waitFor();
    for (const name of ["src/deep/page.html", "src/deep/page.svg"]) {
      await show(name);
      await files(page).getByText("window.hacked = 1").waitFor();
    }
    expect(await page.evaluate(() => "hacked" in window)).toBe(false);
    await show("data.bin");
    await files(page).getByText("Binary file.").waitFor();
    await show("long.txt");
    await files(page).getByText("Only the beginning is shown.").waitFor();
    await show("nowhere.txt");
    await files(page).getByRole("alert").waitFor();
    await show("../../etc/passwd");
    await files(page).getByRole("alert").waitFor();
    await page.context().close();
  });

  test("the conversation and the files of its folder are downloaded", async () => {
    const id = await begin();
    const page = await web.logInAt(`/c/${id}`);
    await expectStatus(page, "done");
    const take = async (name: RegExp) => {
      await page.getByRole("button", { name: "More" }).click();
      await page.getByRole("menuitem", { name: "Download" }).click();
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("dialog").getByRole("button", { name }).click(),
      ]);
      await page.keyboard.press("Escape");
      await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
      return { name: download.suggestedFilename(), bytes: await readFile(await download.path()) };
    };
    const markdown = await take(/Markdown/);
    expect(markdown.name).toBe(`${id}.md`);
    expect(markdown.bytes.toString()).toContain("Begun.");
    const lines = (await take(/JSON Lines/)).bytes.toString().trim().split("\n");
    expect(lines.map((line) => (JSON.parse(line) as { kind: string }).kind)).toContain("MessageEvent");
    expect((await take(/\(ZIP\)/)).bytes.subarray(0, 2).toString()).toBe("PK");
    const archive = await take(/tar\.gz/);
    expect(archive.name).toBe(`${path.basename(work)}.tar.gz`);
    expect(archive.bytes.subarray(0, 2)).toEqual(Buffer.from([0x1f, 0x8b]));
    await page.context().close();
  });

  test.each(everySecond(devices, 1))("U18, U20: axe finds nothing among the files %s", async (_, options) => {
    const id = await begin();
    const page = await web.logIn(options);
    for (const [name, shown] of [
      ["", /README/],
      ["src/sum.js", /export const sum/],
    ] as const) {
      await page.goto(`${web.url}/c/${id}?panel=files&path=${encodeURIComponent(name)}`);
      await files(page).getByText(shown).waitFor();
      await page.waitForLoadState("networkidle");
      expect(await violationsOf(page)).toEqual([]);
      expect(await sidewaysOf(page)).toBe(0);
    }
    await page.context().close();
  });
});
