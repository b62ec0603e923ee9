import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { noBrowser, phone, WebBrowser } from "./web-browser.ts";
import { about, expectStatus, finish, sidewaysOf, takePictures, terminal, violationsOf } from "./web-page.ts";

const task = (prompt: string) => ({
  tool_calls: [{ name: "task", arguments: { prompt, description: "count the files" } }],
});

/** For half a second after it appears a card accepts no answer. */
async function allow(card: Locator): Promise<void> {
  await card.waitFor();
  await expect
    .poll(async () => {
      const button = card.getByRole("button", { name: "Allow", exact: true });
      if ((await button.count()) > 0) await button.click();
      return await card.count();
    })
    .toBe(0);
}

describe.skipIf(noBrowser !== null)("sub-agents in the page", () => {
  let web: WebBrowser;
  beforeAll(async () => {
    web = await WebBrowser.open([
      ...about("Delegate", task("Count them"), finish("They are counted.")),
      ...about("Count them", { tool_calls: [terminal("echo three", "count")] }, finish("There are three.")),
      ...about("Hand over", task("Look at them"), finish("They were looked at.")),
      ...about("Look at them", { tool_calls: [terminal("sleep 120", "look")] }, finish("Never said.")),
    ]);
  });
  afterAll(() => web[Symbol.asyncDispose]());
  afterEach(() => expect(web.faults.splice(0)).toEqual([]));

  const delegate = async (text: string, more: object, options = {}): Promise<{ page: Page; id: string }> => {
    const tools = ["terminal", "task_tool_set"].map((name) => ({ name }));
    const id = await web.converse(text, { agent: { llm: {}, tools }, ...more });
    const page = await web.logInAt(`/c/${id}`, options);
    return { page, id };
  };
  const always = { confirmation_policy: { kind: "AlwaysConfirm" } };
  const thread = (page: Page) => page.getByRole("region", { name: "Sub-agent" });

  test("J15: the work of a sub-agent is shown live in its card, approved there, and opened separately", async () => {
    const { page, id } = await delegate("Delegate", always);
    await allow(page.getByRole("group", { name: "Approval: task" }));
    await page.getByRole("button", { name: /count the files/ }).click();
    await thread(page).getByText("Count them").waitFor();
    await thread(page).getByText("Task", { exact: true }).waitFor();
    const ask = thread(page).getByRole("group", { name: "Approval: terminal" });
    await ask.waitFor();
    await thread(page).getByText("needs approval", { exact: true }).waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await takePictures(page, "task", "dark");
    await allow(ask);
    await thread(page).getByText("There are three.").waitFor();
    await thread(page).getByRole("button", { name: /count/ }).click();
    await thread(page).getByText("three", { exact: true }).waitFor();
    await page.getByText("They are counted.").waitFor();
    await expectStatus(page, "done");
    expect(await violationsOf(page)).toEqual([]);

    await thread(page).getByRole("link", { name: "Open conversation" }).click();
    await page.waitForURL((url) => url.pathname.startsWith("/c/") && !url.pathname.endsWith(id));
    await page.getByRole("feed").getByText("There are three.").waitFor();
    await page.getByRole("link", { name: "Started by another conversation" }).click();
    await page.waitForURL((url) => url.pathname.endsWith(id));
    await page.context().close();
  });

  test("J15: on a phone in the dark, stopping the parent stops the sub-agent, and its card says so", async () => {
    const { page } = await delegate("Hand over", {}, { ...phone, colorScheme: "dark" });
    await page.getByRole("button", { name: /count the files/ }).click();
    await thread(page).getByText("Look at them").waitFor();
    await thread(page).getByText("working", { exact: true }).waitFor();
    expect(await sidewaysOf(page)).toBe(0);
    expect(await violationsOf(page)).toEqual([]);
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await thread(page).getByText("paused", { exact: true }).waitFor();
    await expectStatus(page, "paused");
    await page.context().close();
  });
});
