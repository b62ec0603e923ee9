import { copyFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { everySecond } from "./every-case.ts";
import { desktop, devices, noBrowser, phone, WebBrowser } from "./web-browser.ts";
import {
  about,
  expectStatus,
  finish,
  hostile,
  sidewaysOf,
  takePictures,
  terminal,
  violationsOf,
} from "./web-page.ts";

/** Texts that would end the element that they stand in, begin another one, or be taken for a slot of the template. */
const escaping = "</script><script>window.hacked = 1</script><!--<script> %CONVOKE_EVENTS% $& $1";
const written = `${escaping}\n\n${hostile}`;
const print = `cat <<'CONVOKE'\n${written}\nCONVOKE`;

type Then = {
  readonly conversation: {
    readonly execution_status: string;
    readonly stats: {
      readonly usage_to_metrics: Readonly<
        Record<string, { readonly accumulated_token_usage: { readonly prompt_tokens: number } | null }>
      >;
    };
  };
};

const statusWords: Readonly<Record<string, string>> = { idle: "idle", running: "working", finished: "done" };
const shown = (count: number): string =>
  count < 1_000 ? String(count) : `${(count / 1_000).toFixed(count < 10_000 ? 1 : 0)}k`;

const order = {
  tool_calls: [{ name: "task", arguments: { prompt: "Count them", description: "count the files" } }],
};

describe.skipIf(noBrowser !== null)("the replay file", () => {
  let web: WebBrowser;
  let id = "";
  let file = "";

  beforeAll(async () => {
    web = await WebBrowser.open([
      ...about(
        "begin",
        { tool_calls: [terminal(print, `Say one ${escaping}`)] },
        finish(`It is said. ${written}`),
      ),
      ...about("Delegate", order, finish("They are counted.")),
      ...about("Count them", { tool_calls: [terminal("echo three", "count")] }, finish("There are three.")),
    ]);
    id = await web.converse("begin", { title: `Begun ${escaping}` });
    file = await save(id);
  });
  afterAll(() => web[Symbol.asyncDispose]());
  afterEach(() => expect(web.faults.splice(0)).toEqual([]));

  /** The replay of a conversation that is done, as the page makes it. */
  async function save(of: string): Promise<string> {
    const page = await web.logInAt(`/c/${of}`, desktop);
    await expectStatus(page, "done");
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Download" }).click();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("dialog").getByRole("button", { name: /HTML/ }).click(),
    ]);
    expect(download.suggestedFilename()).toBe(`${of}.html`);
    const saved = path.join(web.place.folder, `${of}.html`);
    await copyFile(await download.path(), saved);
    await page.context().close();
    return saved;
  }

  /** The file in a browser without any network, and everything that it asked for. */
  async function openFile(
    options: object,
    opened = file,
  ): Promise<{ page: Page; asked: string[]; faults: string[] }> {
    const context = await web.newContext({ offline: true, ...options });
    const page = await context.newPage();
    const asked: string[] = [];
    const faults: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    page.on("pageerror", (error) => faults.push(error.message));
    page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
    await page.goto(pathToFileURL(opened).href);
    return { page, asked, faults };
  }

  test.each(everySecond(devices, 0))(
    "J22: opens from a disk, asks for nothing, shows each moment as the server does, %s",
    async (_, options) => {
      const { page, asked, faults } = await openFile(options);
      await page.getByText("It is said.").first().waitFor();
      await page.getByRole("heading", { name: "Begun" }).waitFor();
      await page.getByText("All 2 model requests match the log.").waitFor();
      // What the tool wrote is shown too.
      await page.getByRole("button", { name: /^Say one/ }).click();
      await page.getByText("onload='window.hacked = 1'").first().waitFor();
      expect(await violationsOf(page)).toEqual([]);
      expect(await sidewaysOf(page)).toBe(0);
      await page.getByRole("img", { name: /^Cost \(max\. .*\) and context \(max\./ }).waitFor();
      await takePictures(page, options === phone ? "replay-phone" : "replay");

      const slider = page.getByRole("slider");
      const { items } = (await web.call("GET", `/api/conversations/${id}/events/search?limit=100`)) as {
        items: { kind: string; tool_name?: string }[];
      };
      expect(await slider.getAttribute("max")).toBe(String(items.length));
      const answered = items.findIndex(({ tool_name: tool }) => tool === "finish") + 1;
      const header = page.locator("header");
      await slider.focus();
      for (let position = items.length; position >= 1; position -= 1) {
        await expect.poll(() => slider.inputValue()).toBe(String(position));
        const then = (await web.call("GET", `/api/conversations/${id}/at?position=${position}`)) as Then;
        const { execution_status: status, stats } = then.conversation;
        await header.getByText(statusWords[status]!, { exact: true }).waitFor();
        const used = Object.values(stats.usage_to_metrics).map((metrics) => metrics.accumulated_token_usage);
        const read = used.reduce((sum, usage) => sum + (usage?.prompt_tokens ?? 0), 0);
        await expect
          .poll(() => header.locator("span[title]").last().getAttribute("title"))
          .toContain(`${shown(read)} `);
        if (position < answered) await expect.poll(() => page.getByText("It is said.").count()).toBe(0);
        else await page.getByText("It is said.").first().waitFor();
        await slider.press("ArrowLeft");
      }
      expect(await page.evaluate(() => (window as { hacked?: number }).hacked)).toBeUndefined();
      expect(asked).toEqual([pathToFileURL(file).href]);
      expect(faults).toEqual([]);
      await page.context().close();
    },
  );

  test.each(everySecond(devices, 1))(
    "J22: has the conversations of sub-agents, each as it stood at the moment that is shown, %s",
    async (_, options) => {
      const tools = ["terminal", "task_tool_set"].map((name) => ({ name }));
      const parent = await web.converse("Delegate", { agent: { llm: {}, tools } });
      const saved = await save(parent);
      const { page, asked, faults } = await openFile(options, saved);
      await page.getByRole("button", { name: /count the files/ }).click();
      const thread = page.getByRole("region", { name: "Sub-agent" });
      await thread.getByText("There are three.").waitFor();
      await thread.getByRole("button", { name: /count/ }).click();
      await thread.getByText("three", { exact: true }).waitFor();
      // There is nowhere to open it alone.
      expect(await thread.getByRole("link").count()).toBe(0);
      expect(await violationsOf(page)).toEqual([]);
      expect(await sidewaysOf(page)).toBe(0);
      await takePictures(page, options === phone ? "replay-task-phone" : "replay-task");

      const { items } = (await web.call("GET", `/api/conversations/${parent}/events/search?limit=100`)) as {
        items: { kind: string; key?: string }[];
      };
      const begun = items.findIndex(({ key }) => key === "task") + 1;
      const slider = page.getByRole("slider");
      await slider.fill(String(begun));
      expect(await slider.getAttribute("aria-valuetext")).toContain("a sub-agent starts");
      await page.getByRole("button", { name: /count the files/ }).click();
      await thread.getByText("Count them").waitFor();
      await expect.poll(() => thread.getByText("There are three.").count()).toBe(0);
      expect(asked).toEqual([pathToFileURL(saved).href]);
      expect(faults).toEqual([]);
      await page.context().close();
    },
  );
});
