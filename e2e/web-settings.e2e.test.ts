import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { everySecond } from "./every-case.ts";
import { desktop, noBrowser, phone, WebBrowser } from "./web-browser.ts";
import {
  about,
  expectStatus,
  send,
  sidewaysOf,
  takePictures,
  violationsInBothThemes,
  violationsOf,
} from "./web-page.ts";

const screens = [
  "agent",
  "approvals",
  "skills",
  "hooks",
  "spending",
  "retention",
  "keys",
  "webhooks",
  "server",
];

describe.skipIf(noBrowser !== null)("settings in the page", () => {
  let web: WebBrowser;
  let work = "";

  beforeAll(async () => {
    work = await mkdtemp(path.join(tmpdir(), "convoke-settings-"));
    await mkdir(path.join(work, "ship"), { recursive: true });
    await mkdir(path.join(work, ".openhands"), { recursive: true });
    const head = "---\nname: ship\ndescription: How this is shipped.\n---\n";
    await writeFile(path.join(work, "ship/SKILL.md"), `${head}Push the button.\n`);
    const hooks = { pre_tool_use: [{ matcher: "terminal", hooks: [{ command: "./guard.sh", timeout: 5 }] }] };
    await writeFile(path.join(work, ".openhands/hooks.json"), JSON.stringify(hooks));
    web = await WebBrowser.open(about("begin", { text: "Begun." }));
  });
  afterAll(async () => {
    await web[Symbol.asyncDispose]();
    await rm(work, { recursive: true });
  });
  afterEach(() => expect(web.faults.splice(0)).toEqual([]));

  test("J24: only the changed field of a form is saved", async () => {
    const before = (await web.call("GET", "/api/settings"))["agent_settings"] as Record<string, unknown>;
    const page = await web.logInAt("/settings/approvals");
    const asks = page.getByRole("checkbox", { name: "Ask before actions" });
    await asks.check();
    const steps = page.getByRole("spinbutton", { name: "Maximum steps of one run" });
    await steps.fill("12");
    await page.keyboard.press("Enter");
    const stored = async (): Promise<unknown> =>
      (await web.call("GET", "/api/settings"))["conversation_settings"];
    await expect.poll(stored).toMatchObject({ confirmation_mode: true, max_iterations: 12 });
    await asks.uncheck();
    await expect.poll(stored).toMatchObject({ confirmation_mode: false, max_iterations: 12 });

    await page.goto(`${web.url}/settings/agent`);
    await page.getByRole("checkbox", { name: "Skills of the project" }).check();
    const agent = async (): Promise<unknown> => (await web.call("GET", "/api/settings"))["agent_settings"];
    await expect
      .poll(agent)
      .toMatchObject({ agent_context: { load_project_skills: true }, llm: before["llm"] });
    await page.context().close();
  });

  test("P34: the history of a model compares an old revision with now, and restores it", async () => {
    const save = (model: string) =>
      web.call("POST", "/api/profiles/fast", {
        llm: { model, api_key: `canary-${model}`, temperature: 0.5 },
      });
    for (const model of ["openai/first-of-them", "openai/second-of-them"]) await save(model);
    const page = await web.logInAt("/settings/models");
    const entry = page.getByRole("listitem").filter({ hasText: "second-of-them" });
    await entry.getByRole("button", { name: "History" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("Revision 2", { exact: true }).waitFor();
    await dialog.getByRole("button", { name: "Compare: Revision 1" }).click();
    await dialog.getByRole("cell", { name: "openai/first-of-them" }).waitFor();
    await dialog.getByText("another value; it is never shown").waitFor();
    expect(await dialog.textContent()).not.toContain("canary");
    expect(await violationsOf(page)).toEqual([]);
    await takePictures(page, "history", "phone", "dark");
    await dialog.getByRole("button", { name: "Restore: Revision 1" }).click();
    await dialog.getByText("copy of revision 1").waitFor();
    await page.keyboard.press("Escape");
    await page.getByText("openai/first-of-them").waitFor();
    await page.context().close();
  });

  test("J24: skills are installed, switched and removed; hooks are read; a limit of a day is set", async () => {
    const page = await web.logInAt("/settings/skills");
    await page.getByRole("textbox", { name: "Git address or directory" }).fill(path.join(work, "ship"));
    await page.keyboard.press("Enter");
    // It is shown before it is used.
    await page.getByRole("region", { name: "ship" }).getByRole("button", { name: "Install" }).click();
    const use = page.getByRole("checkbox", { name: "Use ship" });
    await use.uncheck();
    await expect
      .poll(async () => (await web.call("GET", "/api/skills/installed"))["skills"])
      .toMatchObject([{ name: "ship", enabled: false }]);
    await page.getByRole("button", { name: "Remove" }).click();
    await page.getByText("No skills installed.").waitFor();

    await page.goto(`${web.url}/settings/hooks`);
    await page.getByRole("textbox", { name: "Folder" }).fill(work);
    await page.getByRole("button", { name: "Load" }).click();
    await page.getByText("./guard.sh").waitFor();
    await page.getByText("terminal · 5 s").waitFor();

    await page.goto(`${web.url}/settings/spending`);
    await page.getByRole("textbox", { name: "Dollars per day" }).fill("2.5");
    await page.keyboard.press("Enter");
    await expect
      .poll(async () => await web.call("GET", "/api/spend"))
      .toMatchObject({ max_budget_per_day: 2.5 });
    await page.getByText("$2.50").waitFor();
    await page.context().close();
  });

  test("J24: a late reply does not overwrite a field that the user edited", async () => {
    const page = await web.logIn();
    let answer = (): void => {};
    const isTime = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await page.route("**/api/start", async (route) => {
      await isTime;
      await route.continue();
    });
    await page.reload();
    const folder = page.getByRole("textbox", { name: "Folder" });
    await folder.focus();
    const answered = page.waitForResponse("**/api/start");
    answer();
    await (await answered).finished();
    await page.keyboard.type("/here");
    expect(await folder.inputValue()).toBe("/here");
    await page.reload();
    await expect.poll(() => folder.inputValue()).toBe("/here");
    await page.context().close();
  });

  test("J24: a logged-out browser shows nothing but the login", async () => {
    const page = await web.logIn();
    await page.context().clearCookies();
    await page.addInitScript(() => {
      localStorage.clear();
      const seen: string[] = [];
      Object.assign(window, { seen });
      const recordHeadings = (): void => {
        for (const heading of document.querySelectorAll("h1, h2, nav a"))
          if (heading.checkVisibility({ visibilityProperty: true })) seen.push(heading.textContent);
        requestAnimationFrame(recordHeadings);
      };
      requestAnimationFrame(recordHeadings);
    });
    await page.goto(web.url);
    await page.getByRole("textbox", { name: "Key" }).waitFor();
    const seen = await page.evaluate(() => [...new Set((window as { seen?: string[] }).seen)]);
    expect(seen).toEqual(["Log in to Convoke"]);
    await page.context().close();
  });

  test("J24: a key is shown once and works until it is ended; the server reports its health", async () => {
    const page = await web.logInAt("/settings/keys");
    await page.getByRole("textbox", { name: "Label" }).fill("laptop");
    await page.getByRole("button", { name: "Add" }).click();
    const key = await page.getByRole("status").locator("code").innerText();
    const ask = async (): Promise<number> =>
      (await fetch(`${web.url}/api/start`, { headers: { "X-Session-API-Key": key } })).status;
    expect(await ask()).toBe(200);
    await page.getByText("This browser").waitFor();
    await page
      .getByRole("listitem")
      .filter({ hasText: "laptop" })
      .getByRole("button", { name: "Revoke" })
      .click();
    await expect.poll(ask).toBe(401);
    await page.reload();
    await page.getByRole("heading", { name: "API keys and logins" }).waitFor();
    expect(await page.getByText(key).count()).toBe(0);

    await page.goto(`${web.url}/settings/server`);
    await page.getByText("Open connections").waitFor();
    await page.context().close();
  });

  test("J27, S16: users have their own keys; the local user issues, lists and ends the keys of all users", async () => {
    const page = await web.logInAt("/settings/keys");
    const add = async (whose: Page, label: string): Promise<string> => {
      await whose.getByRole("textbox", { name: "Label" }).fill(label);
      await whose.getByRole("button", { name: "Add" }).click();
      await whose.getByRole("listitem").filter({ hasText: label }).waitFor();
      return await whose.getByRole("status").locator("code").innerText();
    };
    await page.getByRole("textbox", { name: "User" }).fill("ada");
    const first = await add(page, "tablet of ada");
    const ada = await web.logInAt("/settings/keys", desktop, { key: first });
    await ada.getByText("tablet of ada").waitFor();
    expect(await ada.getByRole("textbox", { name: "User" }).count()).toBe(0);
    const second = await add(ada, "phone of ada");
    await ada.reload();
    await ada.getByText("phone of ada").waitFor();
    expect(await ada.getByText(second).count()).toBe(0);
    const owners = async (): Promise<unknown[]> => {
      const { keys: found } = await web.call("GET", "/api/keys", undefined, second);
      return (found as { user_id: string; label: string }[]).map((key) => [key.user_id, key.label]);
    };
    expect(await owners()).toEqual([
      ["ada", "tablet of ada"],
      ["ada", "phone of ada"],
    ]);
    await page.reload();
    await page.getByRole("listitem").filter({ hasText: "phone of ada" }).waitFor();
    const end = page.getByRole("listitem").filter({ hasText: "tablet of ada" }).getByRole("button");
    await end.click();
    // Ending the key also ends its login.
    await ada.getByRole("dialog", { name: "You were logged out" }).waitFor();
    expect(await owners()).toEqual([["ada", "phone of ada"]]);
    await page.context().close();
    await ada.context().close();
  });

  test.each([
    ["at a desk, light and dark", { ...desktop, colorScheme: "light" }, violationsInBothThemes, 0],
    ["on a phone, dark", { ...phone, colorScheme: "dark" }, violationsOf, 1],
  ] as const)("U18, U20: axe finds nothing in the settings %s", async (_, options, check, from) => {
    const id = await web.converse("begin");
    const page = await web.logInAt(`/c/${id}`, options);
    await expectStatus(page, "done");
    for (const screen of everySecond(screens, from)) {
      await page.goto(`${web.url}/settings/${screen}`);
      await page.getByRole("heading", { level: 2 }).first().waitFor();
      await page.waitForLoadState("networkidle");
      expect({ screen, found: await check(page) }).toEqual({ screen, found: [] });
      expect({ screen, sideways: await sidewaysOf(page) }).toEqual({ screen, sideways: 0 });
      await page.emulateMedia({ colorScheme: options.colorScheme });
      if (screen === "server" && options.colorScheme === "light") await takePictures(page, "settings");
    }
    await page.context().close();
  });

  test("J2, U2: a model is connected, its refusal is shown in its words, and then it answers", async () => {
    const error = { status: 401, message: "This key is not known here." };
    const address = await web.place.startModel([
      ...about("Say hello", { text: "Hello from the new model." }),
      { error, attempts: 1, text: "Here." },
    ]);
    const page = await web.logInAt("/settings/models");
    await page.getByRole("combobox", { name: "Model", exact: true }).fill("openai/new");
    await page.getByRole("textbox", { name: "Base URL" }).fill(`${address}/v1`);
    await page.getByLabel("Key").fill("a key");
    await page.getByRole("textbox", { name: "Name" }).fill("new");
    await page.keyboard.press("Enter");
    const entry = page.getByRole("listitem").filter({ hasText: "openai/new" });
    await entry.getByText("This key is not known here.").waitFor();
    await entry.getByRole("button", { name: "Test" }).click();
    await entry.getByText("The model responds.").waitFor();
    await page.getByRole("link", { name: /^New( conversation)?$/ }).click();
    await page.getByRole("combobox", { name: "Model" }).selectOption("new");
    await page.getByLabel("Folder").fill(work);
    await send(page, "Say hello");
    await page.getByRole("feed").getByText("Hello from the new model.").waitFor();
    await page.context().close();
  });
});
