import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { chromium, type Browser, type Locator, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CanvasPages, findCanvas } from "./canvas.ts";
import { CommandFolder } from "./run-command.ts";

const found = findCanvas();
const key = "e2e-canvas-key";
/** Timeout in milliseconds for what a person waits for; the machine may be busy. */
const timeoutMs = 30_000;

const long = `A long answer, ${"word ".repeat(300)}`;
const turns = [
  {
    text: "I will look.",
    tool_calls: [{ name: "terminal", arguments: { command: "cat a.txt; git branch --show-current" } }],
  },
  { text: "Hello from the model." },
  { text: long, chunk_delay_ms: 100 },
];

/** The model's answers in the conversation whose actions are approved. */
const approved = [
  {
    text: "I would write.",
    tool_calls: [
      {
        name: "terminal",
        arguments: { command: "mkdir .agents_tmp; echo '# The plan' | tee .agents_tmp/PLAN.md note.txt" },
      },
    ],
  },
  { text: "It is written." },
  { text: "I would remove.", tool_calls: [{ name: "terminal", arguments: { command: "rm note.txt" } }] },
];

/** Its links in the settings, and something that each page shows once its requests are answered. */
const pagesOfSettings: readonly (readonly [string, string])[] = [
  ["agents", "Available Profiles"],
  ["llm", "openai/scripted"],
  ["condenser", "Enable Memory Condensation"],
  ["agent-context", "Save Changes"],
  ["verification", "Enable Critic"],
  ["app", "Git Username"],
  ["secrets", "Add a new secret"],
];

describe.skipIf(typeof found === "string")(
  `Agent Canvas 1.20 in Chromium (${typeof found === "string" ? found : "here"})`,
  () => {
    let folder: CommandFolder;
    let pages: CanvasPages;
    let browser: Browser;
    let page: Page;
    let model = "";
    /** Failed requests to the server; automations are a separate program, which does not run here. */
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
      page.setDefaultTimeout(timeoutMs);
      await page.route(
        (url) => url.origin !== pages.url,
        (route) => route.abort(),
      );
      page.on("response", (reply) => {
        const { pathname } = new URL(reply.url());
        // No contract has a provider's balance: the client interprets 404 as "none", and shows no card.
        const isAsked = pathname.startsWith("/api/automation") || pathname === "/api/llm/balance";
        if (reply.status() >= 400 && !isAsked)
          failed.push(`${reply.status()} ${reply.request().method()} ${pathname}`);
      });
      page.on("pageerror", (error) => broken.push(String(error)));
      page.on("console", (message) => {
        // Failed loads are in the other list, and pages of other origins are never loaded.
        if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
          broken.push(message.text());
      });
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
      // The model chosen beforehand is in the list.
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
      const { items } = (await read(
        `/api/conversations/${id}/events/search?limit=100&kind=MessageEvent`,
      )) as {
        items: { llm_message: { content: { text: string }[] } }[];
      };
      const streamedText = items.at(-1)!.llm_message.content[0]!.text.trim();
      expect(streamedText).toMatch(/^A long answer, word word/);
      const last = async (): Promise<string> => (await get("agent-message").last().innerText()).trim();
      await expect.poll(last).toBe(streamedText);
      await page.reload();
      // The text before the stop is complete after the reload.
      await expect.poll(last).toBe(streamedText);

      expect(failed).toEqual([]);
      expect(broken).toEqual([]);
    });

    test("settings, approval, rejection, files, fork, delete: no request fails", async () => {
      const other = await folder.startModel(approved);
      const settings = await fetch(`${pages.url}/api/profiles/scripted`, {
        method: "POST",
        headers: { "X-Session-API-Key": key, "Content-Type": "application/json" },
        body: JSON.stringify({
          llm: { model: "openai/scripted", api_key: "llm-key", base_url: `${other}/v1` },
          include_secrets: true,
        }),
      });
      expect(settings.status).toBe(201);
      const activated = await fetch(`${pages.url}/api/profiles/scripted/activate`, {
        method: "POST",
        headers: { "X-Session-API-Key": key, "Content-Type": "application/json" },
        body: "{}",
      });
      expect(activated.status).toBe(200);

      await page.goto(`${pages.url}/settings`);
      for (const [name, shown] of pagesOfSettings) {
        await get(`sidebar-settings-/settings/${name}`).click();
        await expect.poll(() => get("settings-screen").innerText()).toContain(shown);
        if (name !== "verification") continue;
        await page.locator("label").filter({ hasText: "Confirmation Mode" }).click();
        await get("save-button").click();
        await expect
          .poll(() => read("/api/settings"))
          .toMatchObject({ conversation_settings: { confirmation_mode: true } });
      }
      await get("sidebar-skills-link").click();
      await get("mcp-page").waitFor();

      await get("sidebar-conversations-link").click();
      await say("Write it");
      await get("action-confirm-button").click();
      await page.getByText("It is written.").first().waitFor();
      await say("Remove it");
      await get("action-reject-button").click();
      const id = page.url().split("/").at(-1)!;
      await expect.poll(() => read(`/api/conversations/${id}`)).toMatchObject({ execution_status: "idle" });

      // The client's own notice covers the panel's buttons while the pointer is on it.
      await page.getByText("Settings saved.").waitFor({ state: "detached" });
      await get("right-panel-toggle").click();
      await get("files-tab-refresh").click();
      await get("file-tree-file-note.txt").click();
      // The rejected command did not run.
      await expect.poll(() => get("files-tab-content").innerText()).toContain("The plan");
      for (const tab of ["commits", "planner", "terminal", "browser", "usage"])
        await get(`conversation-tab-${tab}`).click();
      await page.getByText("Token Usage").waitFor();

      await get("user-message").first().hover();
      await page.getByRole("button", { name: "Branch from here" }).first().click();
      await page.waitForURL((url) => /\/conversations\/.+/.test(url.pathname) && !url.pathname.endsWith(id));
      await expect.poll(chat).toContain("Write it");
      await expect.poll(chat).not.toContain("It is written.");
      expect(await read("/api/conversations/count")).toBe(3);

      const branch = get("conversation-card").filter({ hasText: "(branch)" });
      await branch.hover();
      await branch.getByTestId("ellipsis-button").click();
      await get("delete-button").first().click();
      await page.getByRole("button", { name: "Confirm Delete" }).click();
      await expect.poll(() => read("/api/conversations/count")).toBe(2);
      await expect.poll(() => branch.count()).toBe(0);

      expect(failed).toEqual([]);
      expect(broken).toEqual([]);
    });
  },
);
