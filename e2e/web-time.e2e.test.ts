import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { noBrowser, phone, WebBrowser } from "./web-browser.ts";
import { about, expectStatus, finish, sidewaysOf, takePictures, terminal, violationsOf } from "./web-page.ts";

describe.skipIf(noBrowser !== null)("the exact log", () => {
  let web: WebBrowser;
  let id = "";

  beforeAll(async () => {
    web = await WebBrowser.open(
      about("begin", { tool_calls: [terminal("echo one", "Say one")] }, finish("It is said.")),
    );
    id = await web.converse("begin");
  });
  afterAll(() => web[Symbol.asyncDispose]());
  afterEach(() => expect(web.faults.splice(0)).toEqual([]));

  const searched = (page: Page, name: string): string | null => new URL(page.url()).searchParams.get(name);

  test("S12, J21: what the model was shown, and how the conversation stood at each event", async () => {
    const page = await web.logIn();
    await page.goto(`${web.url}/c/${id}`);
    await expectStatus(page, "done");
    const { items } = (await web.call("GET", `/api/conversations/${id}/events/search?limit=100`)) as {
      items: { id: string; kind: string }[];
    };
    const action = items.findIndex(({ kind }) => kind === "ActionEvent");

    await page.getByRole("button", { name: /^Say one/ }).click();
    const card = page.getByRole("article").filter({ hasText: "Say one" });
    await card.getByRole("button", { name: "What to do from here" }).click();
    await page.getByRole("menuitem", { name: "What the model was shown" }).click();
    const panel = page.getByRole("region", { name: "What the model was shown" });
    await panel.getByText("equal to the record of the request").waitFor();
    await expect.poll(() => searched(page, "of")).toBe(items[action]!.id);
    await expect.poll(() => panel.getByRole("listitem").getByText("begin", { exact: true }).count()).toBe(1);
    expect(await violationsOf(page)).toEqual([]);
    await takePictures(page, "shown");
    await panel.getByRole("button", { name: "In the conversation" }).first().click();
    await page.locator('[aria-current="location"]').getByText("begin").waitFor();
    await expect.poll(() => searched(page, "panel")).toBe("context");

    await page.goto(`${web.url}/c/${id}?at=`);
    const slider = page.getByRole("slider");
    await expect.poll(() => slider.inputValue()).toBe(String(items.length));
    await expect.poll(() => searched(page, "at")).toBe(items.at(-1)!.id);
    await slider.press("Home");
    await expect.poll(() => searched(page, "at")).toBe(items[0]!.id);
    for (let presses = 0; presses < action; presses += 1) await slider.press("ArrowRight");
    await expect.poll(() => searched(page, "at")).toBe(items[action]!.id);
    await expectStatus(page, "working");
    await page.getByRole("button", { name: /^Say one/ }).waitFor();
    await expect.poll(() => page.getByText("It is said.").count()).toBe(0);
    await expect.poll(() => page.getByRole("textbox", { name: "Message" }).count()).toBe(0);
    expect(await violationsOf(page)).toEqual([]);
    await takePictures(page, "past");
    await page.setViewportSize(phone.viewport);
    expect(await sidewaysOf(page)).toBe(0);
    await page.reload();
    await expect.poll(() => slider.inputValue()).toBe(String(action + 1));
    await slider.press("Escape");
    await page.getByText("It is said.").waitFor();
    await page.getByRole("textbox", { name: "Message" }).waitFor();
    await expect.poll(() => new URL(page.url()).search).toBe("");
    await page.goBack();
    await expect.poll(() => slider.inputValue()).toBe(String(action + 1));
    await page.context().close();
  });
});
