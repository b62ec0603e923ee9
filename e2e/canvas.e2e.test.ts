import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { chromium, type Browser, type Locator, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CanvasPages, findCanvas } from "./canvas.ts";
import { CommandFolder } from "./run-command.ts";

const found = findCanvas();
const key = "e2e-canvas-key";
/** For what a person waits for; the machine may be busy. */
const patienceMs = 30_000;

const long = `A long answer, ${"word ".repeat(300)}`;
const turns = [
  {
    text: "I will look.",
    tool_calls: [{ name: "terminal", arguments: { command: "cat a.txt; git branch --show-current" } }],
  },
  { text: "Hello from the model." },
  { text: long, chunk_delay_ms: 100 },
];

describe.skipIf(typeof found === "string")(
  `Agent Canvas 1.20 in Chromium (${typeof found === "string" ? found : "here"})`,
  () => {
    let folder: CommandFolder;
    let pages: CanvasPages;
    let browser: Browser;
    let page: Page;
    let model = "";
    /** Requests to the server that failed; automations are another program, which is not there. */
    const failed: string[] = [];
    const broken: string[] = [];

    const get = (id: string): Locator => page.getByTestId(id);
    const chat = async (): Promise<string> => await get("chat-interface").innerText();
    const say = async (text: string): Promise<void> => {
      await get("chat-input").click();
      await page.keyboard.type(text);
      await get("submit-button").click();
    };
    const read = async (pathname: string): Promise<unknown> => {
      const reply = await fetch(`${pages.url}${pathname}`, { headers: { "X-Session-API-Key": key } });
      return await reply.json();
    };

    beforeAll(async () => {
      if (typeof found === "string") return;
      folder = await CommandFolder.open();
      const project = path.join(folder.folder, "workspace", "project");
      mkdirSync(project, { recursive: true });
      writeFileSync(path.join(project, "a.txt"), "from the file\n");
      const git = (...args: string[]) =>
        execFileSync("git", ["-C", project, "-c", "user.name=T", "-c", "user.email=t@example.org", ...args]);
      git("init", "--quiet", "-b", "main");
      git("add", ".");
      git("commit", "--quiet", "-m", "one");
      model = await folder.startModel(turns);
      const { ready } = await folder.start(["serve", "--json", "--port", "0"], { SESSION_API_KEY: key });
      pages = await CanvasPages.start(found.build, ready.url, key);
      browser = await chromium.launch({ executablePath: found.chromium, args: ["--no-sandbox"] });
      page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
      page.setDefaultTimeout(patienceMs);
      await page.route(
        (url) => url.origin !== pages.url,
        (route) => route.abort(),
      );
      page.on("response", (reply) => {
        const { pathname } = new URL(reply.url());
        if (reply.status() >= 400 && !pathname.startsWith("/api/automation"))
          failed.push(`${reply.status()} ${reply.request().method()} ${pathname}`);
      });
      page.on("pageerror", (error) => broken.push(String(error)));
    });

    afterAll(async () => {
      await browser?.close();
      await pages?.[Symbol.asyncDispose]();
      await folder?.[Symbol.asyncDispose]();
    });

    test("onboarding, model, conversation, tools, stop, reload: no request fails", async () => {
      await page.goto(pages.url);
      const consent = page.getByRole("dialog", { name: "Help improve OpenHands" });
      await consent.waitFor();
      await consent.getByRole("button").last().click();
      await get("onboarding-agent-next").click();
      // The model that it has chosen beforehand is in the list.
      await expect.poll(() => get("llm-model-input").inputValue()).toContain("gpt-5.6-sol");
      await get("sdk-section-advanced-toggle").click();
      await get("llm-custom-model-input").fill("openai/scripted");
      await get("base-url-input").fill(`${model}/v1`);
      await get("llm-api-key-input").fill("llm-key");
      await get("onboarding-llm-next").click();
      await get("onboarding-hello-input").waitFor();
      await page.waitForTimeout(1_500);
      await get("submit-button").first().click();
      await page.getByText("Hello from the model.").first().waitFor();
      await expect.poll(chat).toContain("Ran cat a.txt");

      const id = page.url().split("/").at(-1)!;
      const info = (await read(`/api/conversations/${id}`)) as { client_tools?: { name: string }[] };
      expect(info.client_tools?.length).toBeGreaterThan(0);

      await say("Tell me more");
      await expect.poll(chat).toContain("word word");
      await get("stop-button").click();
      await expect.poll(chat).toContain("Stopped");
      const said = await get("agent-message").last().innerText();
      await page.reload();
      await expect.poll(chat).toContain("A long answer");
      // What was said before the stop is there again, to its last word.
      expect((await get("agent-message").last().innerText()).length).toBeGreaterThanOrEqual(
        said.trim().length - 20,
      );

      expect(failed).toEqual([]);
      expect(broken).toEqual([]);
    });
  },
);
